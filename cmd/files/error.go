// Package files is what capcli does with files: it writes them whole or not at all,
// and reads what others may never finish. Every step is a field of Disk, so that a
// test can make it fail.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// WriteError says that path could not be written, and after how many bytes.
type WriteError struct {
	Path    string
	Written int64
	Err     error
	Hint    string
	Clean   bool // there is no trace of the attempt
}

func (e *WriteError) Error() string {
	why := e.Err.Error()
	var at *fs.PathError
	if errors.As(e.Err, &at) {
		why = at.Err.Error() // the path is said already, and not the temporary one
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
