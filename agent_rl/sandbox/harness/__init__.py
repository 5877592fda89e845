"""What runs inside every sandbox, around the program; the same for native Python and for pyodide.

The program shares the interpreter with these modules. It can find and change them, so nothing in here may ever hold
what the program must not know, and nothing these modules say decides anything by itself. They keep the built-ins they
need under names of their own: a program that redefines `print`, `len` or `json.dumps` changes its own life only.

Python 3.9 and later, standard library only.
"""
