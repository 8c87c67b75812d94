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
	Reader func(path string, most int64) ([]byte, error) // reads a whole file of at most most bytes
	Hint   string                                        // hint of the error where a file of Create cannot be written
}

// Path returns the path of a file of the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.Dir, name) }

// Names returns the names of the entries of the folder, sorted. It fails with *capcli.InputError
// where Dir is a file.
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

// Read returns the content of a file of the folder; most is passed to Reader.
func (f *Folder) Read(name string, most int64) ([]byte, error) { return f.Reader(f.Path(name), most) }

// Create creates a file that is visible under its name at once, before it is complete. It fails
// where the file exists.
func (f *Folder) Create(name string) (io.WriteCloser, error) {
	to, err := f.To.Disk.Create(f.Path(name), 0o666)
	if err != nil {
		return nil, &WriteError{Path: f.Path(name), Err: err}
	}
	return &journal{to, f.Path(name), f.Hint}, nil
}

// Replace replaces a file by what write writes. Where it fails the file is unchanged.
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

// Remove removes a file of the folder.
func (f *Folder) Remove(name string) error { return f.To.Disk.Remove(f.Path(name)) }

// journal is a file of Create. After an error it keeps what was written before.
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

// OpenError returns err as the error of opening the file called name.
func OpenError(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // the path error would repeat the name
	}
	return fmt.Errorf("cannot open %s: %w", name, err)
}
