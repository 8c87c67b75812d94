package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// disk is what capcli does with files, so that a test can make any step fail.
type disk struct {
	open    func(name string) (fs.File, error)
	stat    func(name string) (fs.FileInfo, error)
	lstat   func(name string) (fs.FileInfo, error)
	resolve func(name string) (string, error) // follows symbolic links
	create  func(name string, mode fs.FileMode) (file, error)
	unnamed func(folder string, mode fs.FileMode) (file, error) // fails where the system has no such files
	link    func(f file, name string) error                     // gives an unnamed file a name that is free
	stale   func(name string) bool                              // its writer is gone for certain
	device  func(name string) (file, error)                     // opens what is there for writing
	rename  func(from, to string) error
	remove  func(name string) error
	mkdir   func(name string) error // with its parents
	sync    func(folder string) error
}

// file is a file being written.
type file interface {
	io.WriteCloser
	Sync() error
}

func osDisk() disk {
	return disk{
		open:    func(name string) (fs.File, error) { return os.Open(name) },
		stat:    os.Stat,
		lstat:   os.Lstat,
		resolve: filepath.EvalSymlinks,
		create:  createNamed,
		unnamed: createUnnamed,
		link:    linkUnnamed,
		stale:   abandoned,
		device:  func(name string) (file, error) { return os.OpenFile(name, os.O_WRONLY, 0) },
		rename:  os.Rename,
		remove:  os.Remove,
		mkdir:   func(name string) error { return os.MkdirAll(name, 0o777) },
		sync:    syncFolder,
	}
}

// syncFolder makes a rename inside folder last. Some systems cannot sync a
// folder, and there is nothing to be done about it.
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

// patient is d for a command that ends with ctx, even while it waits for the other
// end of a pipe to be opened, or to be written to.
func (d disk) patient(ctx context.Context) disk {
	out := d
	out.open = func(name string) (fs.File, error) {
		f, err := waitFor(ctx, func() (fs.File, error) { return d.open(name) })
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil || info.Mode().IsRegular() || info.IsDir() {
			return f, nil //nolint:nilerr // who needs to know what it is asks again
		}
		return stream{f, &patientReader{ctx: ctx, r: f}}, nil
	}
	out.device = func(name string) (file, error) {
		return waitFor(ctx, func() (file, error) { return d.device(name) })
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

// waitFor opens something until ctx ends. What opens after that is closed again.
func waitFor[F io.Closer](ctx context.Context, open func() (F, error)) (F, error) {
	if ctx.Err() != nil { // the command is told already: it finishes what it is in
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
