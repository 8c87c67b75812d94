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
	// Create creates a file for writing. It replaces a file of the same name.
	Create(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (Reading, error)
	// List returns the entries of a folder in order of name. It returns none, and no error, where
	// there is no such folder.
	List(dir string) ([]Entry, error)
	// Rename renames a file, or a folder with all that is in it. It replaces a file of the new name.
	Rename(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// MakeDir creates a folder and its parents, and makes them durable.
	MakeDir(dir string) error
	// SyncDir makes creations, renames and removals in a folder durable.
	SyncDir(dir string) error
	// Lock locks the file for this program and writes holder, the name of this program, into it.
	// It returns a *lockedError where another program holds the lock. Close and the end of the
	// program release it.
	Lock(name, holder string) (io.Closer, error)
}

// File is a file open for writing.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Reading is a file open for reading.
type Reading interface {
	io.ReaderAt
	io.Closer
	Size() (int64, error)
}

// PartReading is a Reading of a file far away, of which the store reads only the parts that it
// needs.
type PartReading interface {
	Reading
	// Want names the byte ranges, each an offset and a length, that are read next.
	Want(ranges [][2]int64) error
}

// FarDisk is a Disk far away, which answers many questions at once in the time of one.
type FarDisk interface {
	Disk
	// ListAhead names folders that List is called with next.
	ListAhead(dirs []string)
	// OpenAhead names files that Open is called with next, in this order.
	OpenAhead(names []string)
}

// Entry is one file or folder.
type Entry struct {
	Name string
	Dir  bool
	Size int64 // of a file, in bytes
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
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		one := Entry{Name: e.Name(), Dir: e.IsDir()}
		if !one.Dir {
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was removed meanwhile
			}
			if err != nil {
				return nil, err
			}
			one.Size = info.Size()
		}
		entries = append(entries, one)
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
