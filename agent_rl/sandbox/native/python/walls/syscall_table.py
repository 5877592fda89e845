"""Numbers of system calls by name, per machine."""

import json
import os
import platform

MACHINES = ('x86_64', 'aarch64')


class UnknownMachine(Exception):
    """There is no table for this machine."""


def numbers(machine=None):
    """The table of a machine, by default this one. Raises UnknownMachine."""
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise UnknownMachine('%s; known are %s' % (machine, ', '.join(MACHINES)))
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, 'syscalls-%s.json' % machine), encoding='utf-8') as file:
        return json.load(file)
