package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Disk is the file system as a store uses it. Names are slash-separated.
type Disk interface {
	// Create makes a file to be written, in place of one of the same name.
	Create(name string) (File, error)
	// Open opens a file to be read.
	Open(name string) (Reading, error)
	// List gives what is in a folder in order of name; nothing where there is no such folder.
	List(dir string) ([]Entry, error)
	Rename(from, to string) error
	Remove(name string) error
	// MakeDir makes a folder that lasts, and those above it.
	MakeDir(dir string) error
	// SyncDir makes what was created, renamed and removed in a folder last.
	SyncDir(dir string) error
	// Lock takes the file for this program; holder says who that is. It gives
	// a LockedError where another program has it. Closing, or the end of the
	// program, gives it back.
	Lock(name, holder string) (io.Closer, error)
}

// File is a file that is being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Reading is a file that is being read.
type Reading interface {
	io.ReaderAt
	io.Closer
	Size() (int64, error)
}

// Entry is one file or folder.
type Entry struct {
	Name string
	Dir  bool
}

// System is the Disk of the operating system.
type System struct{}

var _ Disk = System{}

// Create implements Disk.
func (System) Create(name string) (File, error) {
	return os.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}

// Open implements Disk.
func (System) Open(name string) (Reading, error) {
	f, err := os.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	return reading{f}, nil
}

type reading struct{ *os.File }

func (r reading) Size() (int64, error) {
	info, err := r.Stat()
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, &fs.PathError{Op: "read", Path: r.Name(), Err: errors.New("not a file")}
	}
	return info.Size(), nil
}

// List implements Disk.
func (System) List(dir string) ([]Entry, error) {
	found, err := os.ReadDir(filepath.FromSlash(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	entries := make([]Entry, len(found))
	for i, e := range found {
		entries[i] = Entry{e.Name(), e.IsDir()}
	}
	return entries, err
}

// Rename implements Disk.
func (System) Rename(from, to string) error {
	return os.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

// Remove implements Disk.
func (System) Remove(name string) error { return os.Remove(filepath.FromSlash(name)) }

// MakeDir implements Disk.
func (s System) MakeDir(dir string) error {
	dir = filepath.FromSlash(dir)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := s.MakeDir(filepath.ToSlash(above)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.SyncDir(filepath.ToSlash(above))
}
