//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// createNamed creates a file and locks it, so that other runs know that its writer still runs. It
// fails with fs.ErrExist where the file exists.
func createNamed(name string, mode fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) || !stands(f, name) {
		// Another run found the file unlocked between the two calls and took it for abandoned.
		return nil, errors.Join(fs.ErrExist, f.Close())
	}
	return f, nil
}

// abandoned reports whether the lock of the temporary file called name is free, so that nobody
// writes it. It returns false where the file cannot be locked.
func abandoned(name string) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was not written
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && stands(f, name)
}

// stands reports whether f is the file that is called name now.
func stands(f *os.File, name string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(ours, there)
}
