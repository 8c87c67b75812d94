package store

import (
	"cmp"
	"errors"
	"fmt"

	"capcli"
)

// DiskError is a failed operation on the files of a store. The files that were there before are
// untouched, and no tick that Write accepted is lost.
type DiskError struct {
	Doing string // "writing", "creating"
	Path  string
	Full  bool // the disk or the quota is full
	Err   error
}

func (e *DiskError) Error() string {
	full := ""
	if e.Full {
		full = " (the disk or the quota is full)"
	}
	return fmt.Sprintf("%s %s: %v%s", e.Doing, e.Path, e.Err, full)
}

// Unwrap returns the cause.
func (e *DiskError) Unwrap() error { return e.Err }

// FarError is an error of a FarDisk, which names what it is about.
type FarError interface {
	error
	FarName() string
}

// diskFault wraps err in a DiskError. It returns nil for nil, and err itself where it holds a
// DiskError, a lockedError or a FarError.
func diskFault(doing, path string, err error) error {
	var known *DiskError
	var locked *lockedError
	var far FarError
	if err == nil || errors.As(err, &known) || errors.As(err, &locked) || errors.As(err, &far) {
		return err
	}
	return &DiskError{Doing: doing, Path: path, Full: isFull(err), Err: err}
}

// lockedError is the error where another program holds a lock on the store of this host.
type lockedError struct {
	Path   string
	Holder string // name that the other program gave; "" where it is not known
}

func (e *lockedError) Error() string {
	who := e.Holder
	who = cmp.Or(who, "another program")
	return fmt.Sprintf("%s is held by %s", e.Path, who)
}

// ErrChanged is the error where files disappeared while the directory was read, such as during a
// compaction. Reading again helps.
var ErrChanged = errors.New("the directory changed while it was read: read it again")

// inFile returns err with the name of the file it is about.
func inFile(name string, err error) error {
	if isDamage(err) {
		return capcli.NameFile(err, name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// isDamage reports whether an error is about the content of a file, not about the disk.
func isDamage(err error) bool {
	var in *capcli.InputError
	return errors.As(err, &in)
}
