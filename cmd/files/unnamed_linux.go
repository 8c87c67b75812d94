package files

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// createUnnamed creates a file without a name in folder. The system deletes it when the program
// ends, even by a kill (open(2), O_TMPFILE). It fails where the file system does not support such
// files.
func createUnnamed(folder string, mode fs.FileMode) (File, error) {
	if folder == "" {
		folder = "."
	}
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, uint32(mode.Perm()))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: folder, Err: err}
	}
	f := os.NewFile(uintptr(fd), folder)
	if _, err := os.Lstat(procName(f)); err != nil { // a file gets its name through /proc
		return nil, errors.Join(err, f.Close())
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// linkUnnamed gives an unnamed file a name. It fails with fs.ErrExist where the name is taken.
func linkUnnamed(f File, name string) error {
	open, ok := f.(*os.File)
	if !ok {
		return errors.ErrUnsupported
	}
	if err := unix.Linkat(unix.AT_FDCWD, procName(open), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &fs.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}

func procName(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
