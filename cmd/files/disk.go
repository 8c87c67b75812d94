package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
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
