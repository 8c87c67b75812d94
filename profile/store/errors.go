package store

import (
	"errors"
	"fmt"

	"capcli"
)

// DiskError says what could not be done with the files of a store. What was
// there before is untouched, and no tick that Write took is lost.
type DiskError struct {
	Doing string // "writing", "creating"
	Path  string
	Full  bool // the disk or the quota is used up
	Err   error
}

func (e *DiskError) Error() string {
	full := ""
	if e.Full {
		full = " (the disk or the quota is full)"
	}
	return fmt.Sprintf("%s %s: %v%s", e.Doing, e.Path, e.Err, full)
}

// Unwrap gives the cause.
func (e *DiskError) Unwrap() error { return e.Err }

// diskFault makes err a DiskError.
func diskFault(doing, path string, err error) error {
	var known *DiskError
	var locked *lockedError
	if err == nil || errors.As(err, &known) || errors.As(err, &locked) {
		return err
	}
	return &DiskError{Doing: doing, Path: path, Full: isFull(err), Err: err}
}

// lockedError says that another program keeps the store of this host.
type lockedError struct {
	Path   string
	Holder string // what that program said of itself; "" where not known
}

func (e *lockedError) Error() string {
	who := e.Holder
	if who == "" {
		who = "another program"
	}
	return fmt.Sprintf("%s is held by %s", e.Path, who)
}

// ErrChanged says that files went away while they were read, as when the
// directory is being compacted: read again.
var ErrChanged = errors.New("the directory changed while it was read: read it again")

// inFile returns err with the name of the file that it is about.
func inFile(name string, err error) error {
	if isDamage(err) {
		return capcli.NameFile(err, name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// isDamage reports whether an error is of what a file holds, not of the disk.
func isDamage(err error) bool {
	var in *capcli.InputError
	return errors.As(err, &in)
}
