package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
)

// output is a file on its way out. What is written goes to a temporary file in
// the same folder, which takes the final name in Commit; until then what stood
// under that name is untouched, and after Abort nothing is left behind.
//
//	out, err := e.create(path)
//	if err != nil { return err }
//	defer out.Abort()
//	… write …
//	return out.Commit()
type output struct {
	e       *env
	path    string // as the user named it, for messages
	final   string // what the temporary file becomes; "" where there is none
	temp    string
	file    file      // nil for stdout and when settled
	to      io.Writer // what the buffer empties into
	buf     *bufio.Writer
	written int64
	err     error // the first write that failed
	closed  bool
}

// create begins the file called path; "-" is stdout. Devices and pipes are
// written in place. Every error is an *outputError.
func (e *env) create(path string) (*output, error) {
	o := &output{e: e, path: path}
	o.buf = bufio.NewWriterSize(counted{o}, 256<<10)
	if path == "-" {
		o.path, o.to = "stdout", e.stdout
		return o, nil
	}
	info, err := e.disk.stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.final = path
	case err != nil:
		return nil, o.fail(err, "")
	case info.IsDir():
		return nil, o.fail(errors.New("it is a folder; expected the name of a file"), "name a file in it: "+filepath.Join(path, "NAME"))
	case !info.Mode().IsRegular():
		if o.file, err = e.disk.device(path); err != nil {
			return nil, o.fail(err, "")
		}
		o.to = o.file
		return o, nil
	case info.Mode().Perm()&0o200 == 0:
		return nil, o.fail(errors.New("the file there is read-only"), "remove it first, or choose another name")
	default: // write through a symbolic link, not over it
		if o.final, err = e.disk.resolve(path); err != nil {
			return nil, o.fail(err, "")
		}
	}
	return o, o.begin(info)
}

// begin makes the temporary file, with the permissions of the one it replaces.
func (o *output) begin(old fs.FileInfo) error {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = old.Mode().Perm()
	}
	folder, name := filepath.Split(o.final)
	for i := 0; ; i++ {
		o.temp = filepath.Join(folder, fmt.Sprintf(".%s.%d.tmp", name, i))
		f, err := o.e.disk.create(o.temp, mode)
		if errors.Is(err, fs.ErrExist) && i < 1000 {
			continue // another run is writing the same name
		}
		hint := ""
		if errors.Is(err, fs.ErrNotExist) && folder != "" {
			hint = "the folder is not there: mkdir -p " + filepath.Clean(folder)
		}
		if err != nil {
			return o.fail(err, hint)
		}
		o.file, o.to = f, f
		o.e.temps.add(o.temp)
		return nil
	}
}

// Write adds p. A failed write is told again by Commit.
func (o *output) Write(p []byte) (int, error) { return o.buf.Write(p) }

// counted is where an output's buffer empties into.
type counted struct{ o *output }

func (c counted) Write(p []byte) (int, error) {
	n, err := c.o.to.Write(p)
	c.o.written += int64(n)
	if c.o.err == nil {
		c.o.err = err
	}
	return n, err
}

// Commit writes out what is buffered, makes it last and gives it its name.
func (o *output) Commit() error {
	if err := o.settle(); err != nil {
		return err
	}
	return o.publish()
}

// settle writes out what is buffered and makes it last, under the temporary name.
// An output that fails to settle is gone.
func (o *output) settle() error {
	err := o.buf.Flush()
	if o.file != nil {
		if err == nil && o.final != "" {
			err = o.file.Sync()
		}
		if shut := o.file.Close(); err == nil {
			err = shut
		}
		o.file = nil
	}
	if err != nil {
		o.Abort()
		return o.fail(err, "")
	}
	return nil
}

// publish gives a settled output its name.
func (o *output) publish() error {
	o.closed = true
	if o.final == "" {
		return nil
	}
	defer o.e.temps.drop(o.temp)
	if err := o.e.disk.rename(o.temp, o.final); err != nil {
		_ = o.e.disk.remove(o.temp)
		return o.fail(err, "")
	}
	if err := o.e.disk.sync(filepath.Dir(o.final)); err != nil {
		return o.fail(fmt.Errorf("the folder did not take the new name for good: %w", err), "")
	}
	return nil
}

// Abort leaves what stood under the name as it was. After Commit it does nothing.
func (o *output) Abort() {
	if o.closed {
		return
	}
	o.closed = true
	if o.file != nil {
		_ = o.file.Close()
	}
	if o.temp != "" {
		_ = o.e.disk.remove(o.temp)
		o.e.temps.drop(o.temp)
	}
}

// failed gives err, or the write error that caused it: a command that wrote into
// o and got an error of any kind returns this.
func (o *output) failed(err error) error {
	if err != nil && o.err != nil {
		return o.fail(o.err, "")
	}
	return err
}

func (o *output) fail(err error, hint string) error {
	return &outputError{path: o.path, written: o.written, err: err, hint: hint, clean: o.final != ""}
}

// temps are the files that a program that must stop at once takes with it.
type temps struct {
	mu    sync.Mutex
	names []string
}

func (t *temps) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = append(t.names, name)
}

func (t *temps) drop(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, n := range t.names {
		if n == name {
			t.names = append(t.names[:i], t.names[i+1:]...)
			return
		}
	}
}

// removeAll removes the files. The lock stays taken: no file may take its final
// name any more.
func (t *temps) removeAll(d disk) {
	t.mu.Lock()
	for _, n := range t.names {
		_ = d.remove(n)
	}
}
