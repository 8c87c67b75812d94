//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// createNamed makes a file that is not there and locks it, so that others know
// that its writer lives.
func createNamed(name string, mode fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) || !stands(f, name) {
		// Another run took it for abandoned between the two calls.
		return nil, errors.Join(fs.ErrExist, f.Close())
	}
	return f, nil
}

// abandoned tells whether nobody writes the temporary file called name: its lock
// is free. Where files cannot be locked nobody knows.
func abandoned(name string) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was not written
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && stands(f, name)
}

// stands tells whether f is the file called name.
func stands(f *os.File, name string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(ours, there)
}
