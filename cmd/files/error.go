// Package files reads and writes files: it writes a file whole or not at all, and stops reading a
// pipe whose writer stalls when the command ends. Every operation is a field of Disk, so that a
// test can make it fail.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// WriteError is the error of a file that could not be written.
type WriteError struct {
	Path    string
	Written int64
	Err     error
	Hint    string
	Clean   bool // the attempt left no file behind
}

func (e *WriteError) Error() string {
	why := e.Err.Error()
	var at *fs.PathError
	if errors.As(e.Err, &at) {
		why = at.Err.Error() // the message names e.Path, not the temporary file
	}
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		why = "disk full (" + why + ")"
	}
	if e.Written > 0 {
		why += fmt.Sprintf(" after %d bytes", e.Written)
	}
	if e.Clean {
		why += "; nothing was left behind"
	}
	return fmt.Sprintf("cannot write %s: %s", e.Path, why)
}

func (e *WriteError) Unwrap() error { return e.Err }
