// Package files reads and writes files: it writes a file whole or not at all, and stops reading a
// pipe whose writer stalls when the command ends. Every operation is a field of Disk, so that a
// test can make it fail.
package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"capcli"
)

// Disk holds every file operation of capcli as a field, so that a test can make any of them fail.
type Disk struct {
	Open    func(name string) (fs.File, error)
	Stat    func(name string) (fs.FileInfo, error)
	Lstat   func(name string) (fs.FileInfo, error)
	Resolve func(name string) (string, error) // follows symbolic links
	Create  func(name string, mode fs.FileMode) (File, error)
	Unnamed func(folder string, mode fs.FileMode) (File, error) // fails where the system has no unnamed files
	Link    func(f File, name string) error                     // names an unnamed file; fs.ErrExist where the name is taken
	Stale   func(name string) bool                              // reports whether the writer of a temporary file is certainly gone
	Device  func(name string) (File, error)                     // opens an existing device or pipe for writing
	Rename  func(from, to string) error
	Remove  func(name string) error
	Mkdir   func(name string) error // with its parents
	Sync    func(folder string) error
}

// File is a file being written.
type File interface {
	io.WriteCloser
	Sync() error
}

// OS returns the disk of the operating system.
func OS() Disk {
	return Disk{
		Open:    func(name string) (fs.File, error) { return os.Open(name) },
		Stat:    os.Stat,
		Lstat:   os.Lstat,
		Resolve: filepath.EvalSymlinks,
		Create:  createNamed,
		Unnamed: createUnnamed,
		Link:    linkUnnamed,
		Stale:   abandoned,
		Device:  func(name string) (File, error) { return os.OpenFile(name, os.O_WRONLY, 0) },
		Rename:  os.Rename,
		Remove:  os.Remove,
		Mkdir:   func(name string) error { return os.MkdirAll(name, 0o777) },
		Sync:    syncFolder,
	}
}

// syncFolder makes a rename inside folder durable. It returns nil on systems that cannot sync a
// folder.
func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Patient returns d for a command that ends with ctx: opening and reading a pipe return the cause
// of ctx when it ends, even while they wait for the other end.
func (d Disk) Patient(ctx context.Context) Disk {
	out := d
	out.Open = func(name string) (fs.File, error) {
		f, err := waitFor(ctx, func() (fs.File, error) { return d.Open(name) })
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil || info.Mode().IsRegular() || info.IsDir() {
			return f, nil //nolint:nilerr // who needs to know what it is asks again
		}
		return stream{f, &patientReader{ctx: ctx, r: f}}, nil
	}
	out.Device = func(name string) (File, error) {
		return waitFor(ctx, func() (File, error) { return d.Device(name) })
	}
	return out
}

// stream is an open pipe or device.
type stream struct {
	fs.File
	r *patientReader
}

// Read implements io.Reader.
func (s stream) Read(p []byte) (int, error) { return s.r.Read(p) }

// waitFor returns what open opens, or the cause of ctx where ctx ends first. A file that opens
// after that is closed.
func waitFor[F io.Closer](ctx context.Context, open func() (F, error)) (F, error) {
	if ctx.Err() != nil { // the command knows of the end of ctx and is finishing: do not stop it here
		return open()
	}
	type opened struct {
		f   F
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := open()
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				_ = o.f.Close()
			}
		}()
		var none F
		return none, context.Cause(ctx)
	}
}

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
	names := capcli.Map(entries, fs.DirEntry.Name)
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

// WriteError is the error of a file that could not be written.
type WriteError struct {
	Path    string
	Written int64
	Err     error
	Hint    string
	Clean   bool // the attempt left no file behind
}

func (e *WriteError) Error() string {
	why := e.Err.Error()
	var at *fs.PathError
	if errors.As(e.Err, &at) {
		why = at.Err.Error() // the message names e.Path, not the temporary file
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

// Opened records the names of the files that were opened.
type Opened struct {
	lock  sync.Mutex
	names []string
}

// Watch makes o record every file that d opens from now on.
func (o *Opened) Watch(d *Disk) {
	open := d.Open
	d.Open = func(name string) (fs.File, error) {
		f, err := open(name)
		if err == nil {
			o.lock.Lock()
			defer o.lock.Unlock()
			o.names = append(o.names, name)
		}
		return f, err
	}
}

// Sum is the name of a file and the SHA-256 of its content, in hexadecimal.
type Sum struct{ Name, SHA256 string }

// Sums returns the recorded files with the SHA-256 of their present content, sorted by name.
func (o *Opened) Sums(d *Disk) ([]Sum, error) {
	o.lock.Lock()
	names := slices.Clone(o.names)
	o.lock.Unlock()
	slices.Sort(names)
	var out []Sum
	for _, name := range slices.Compact(names) {
		f, err := d.Open(name)
		if err != nil {
			return nil, OpenError(name, err)
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		out = append(out, Sum{name, hex.EncodeToString(sum.Sum(nil))})
	}
	return out, nil
}
