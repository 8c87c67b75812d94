package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"capcli"
)

// Folder is a folder for the files of one piece of work.
type Folder struct {
	Dir    string
	To     *Target
	Reader func(path string, most int64) ([]byte, error) // reads a file whole
	Hint   string                                        // what to do where a file of Create cannot be written
}

// Path returns the path of a file of the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// Names lists what is in the folder, by name.
func (f *Folder) Names() ([]string, error) {
	opened, err := f.To.Disk.Open(f.Dir)
	if err != nil {
		return nil, OpenError(f.Dir, err)
	}
	defer func() { _ = opened.Close() }()
	d, ok := opened.(fs.ReadDirFile)
	if !ok {
		return nil, &capcli.InputError{File: f.Dir, Text: "expected a folder, found a file"}
	}
	entries, err := d.ReadDir(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, OpenError(f.Dir, err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names, nil
}

// Read reads a file whole, at most so many bytes of it.
func (f *Folder) Read(name string, most int64) ([]byte, error) { return f.Reader(f.Path(name), most) }

// Create makes a new file, which is there from the first byte on.
func (f *Folder) Create(name string) (io.WriteCloser, error) {
	to, err := f.To.Disk.Create(f.Path(name), 0o666)
	if err != nil {
		return nil, &WriteError{Path: f.Path(name), Err: err}
	}
	return &journal{to, f.Path(name), f.Hint}, nil
}

// Replace gives a file what write writes: all of it or nothing.
func (f *Folder) Replace(name string, write func(w io.Writer) error) error {
	out, err := f.To.Create(f.Path(name))
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := write(out); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}

// Remove takes a file away.
func (f *Folder) Remove(name string) error { return f.To.Disk.Remove(f.Path(name)) }

// journal is a file that keeps what was written before an error.
type journal struct {
	to         io.WriteCloser
	path, hint string
}

func (j *journal) Write(p []byte) (int, error) {
	n, err := j.to.Write(p)
	return n, j.fault(err)
}

func (j *journal) Close() error { return j.fault(j.to.Close()) }

func (j *journal) fault(err error) error {
	if err == nil {
		return nil
	}
	return &WriteError{Path: j.path, Err: err, Hint: j.hint}
}

// OpenError says that the file called name cannot be opened.
func OpenError(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // the name is said once
	}
	return fmt.Errorf("cannot open %s: %w", name, err)
}
