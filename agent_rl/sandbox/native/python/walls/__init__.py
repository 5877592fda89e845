"""What a sandboxed process is shut in by."""
