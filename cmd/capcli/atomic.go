package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"capcli/cmd/report"
)

// output is a file on its way out. What is written goes to a temporary file in
// the same folder, which takes the final name in Commit; until then what stood
// under that name is untouched, and after Abort nothing is left behind. Where the
// system has files without a name the temporary file is one, so that a program
// that is killed leaves nothing either; elsewhere the next run that writes the same
// name removes what was left.
//
//	out, err := e.create(path)
//	if err != nil { return err }
//	defer out.Abort()
//	… write …
//	return out.Commit()
type output struct {
	e       *env
	path    string        // as the user named it, for messages
	final   string        // what the temporary file becomes; "" where there is none
	temp    string        // its name; "" where it has none
	file    file          // nil for stdout and when closed
	to      io.Writer     // what the buffer empties into
	plain   *report.Plain // between the buffer and a terminal; nil is none
	buf     *bufio.Writer
	written int64
	err     error // the first write that failed
	closed  bool
}

// create begins the file called path; "-" is stdout, which gets no control
// characters where it is a terminal. Devices and pipes are written in place; a
// symbolic link is refused. Every error is an *outputError.
func (e *env) create(path string) (*output, error) {
	o := &output{e: e, path: path}
	o.buf = bufio.NewWriterSize(counted{o}, 256<<10)
	if path == "-" {
		o.path, o.to = "stdout", e.stdout
		if e.screen.stdout {
			o.plain = report.NewPlain(e.stdout)
			o.to = o.plain
		}
		return o, nil
	}
	info, err := e.disk.lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = e.throughLink(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.final = path
	case err != nil:
		hint := ""
		if link, ok := errors.AsType[*linkError](err); ok {
			hint = link.hint
		}
		return nil, o.fail(err, hint)
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
	default:
		o.final = path
	}
	return o, o.begin(info)
}

// linkError says that a path is a symbolic link.
type linkError struct{ text, hint string }

func (e *linkError) Error() string { return e.text }

// throughLink gives what the symbolic link path leads to, if that may be written:
// only the streams that the system itself keeps as links, such as /dev/stdout. A
// link that somebody else laid could lead to any file of the user.
func (e *env) throughLink(path string) (fs.FileInfo, error) {
	full := filepath.ToSlash(filepath.Clean(path))
	if strings.HasPrefix(full, "/dev/") || strings.HasPrefix(full, "/proc/") {
		info, err := e.disk.stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return info, err
		}
		return nil, &linkError{"it leads to a file that is open already", "for stdout: -"}
	}
	target, err := e.disk.resolve(path)
	if err != nil {
		return nil, &linkError{"it is a symbolic link that leads nowhere", "remove it: rm " + path}
	}
	return nil, &linkError{"it is a symbolic link to " + target + ", and links are not written through", "name the file itself: " + target}
}

// begin makes the temporary file, with the permissions of the one it replaces.
func (o *output) begin(old fs.FileInfo) error {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = old.Mode().Perm()
	}
	folder := filepath.Dir(o.final)
	o.tidy()
	if f, err := o.e.disk.unnamed(folder, mode); err == nil {
		o.file, o.to = f, f
		return nil
	}
	err := o.name(func(temp string) error {
		f, err := o.e.disk.create(temp, mode)
		if err == nil {
			o.file, o.to = f, f
		}
		return err
	})
	hint := ""
	if errors.Is(err, fs.ErrNotExist) {
		hint = "the folder is not there: mkdir -p " + filepath.Clean(folder)
	}
	if err != nil {
		return o.fail(err, hint)
	}
	return nil
}

// tempName is the n-th name of a temporary file for o.
func (o *output) tempName(n int) string {
	folder, name := filepath.Split(o.final)
	return filepath.Join(folder, fmt.Sprintf(".%s.%d.tmp", name, n))
}

// name has a temporary file made under the first name that is free.
func (o *output) name(make func(temp string) error) error {
	for n := 0; ; n++ {
		temp := o.tempName(n)
		err := make(temp)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue // another run is writing the same name
		}
		if err == nil {
			o.temp = temp
			o.e.temps.add(temp)
		}
		return err
	}
}

// tidy removes what runs that were killed left under the names of o.
func (o *output) tidy() {
	for n := range 1000 {
		temp := o.tempName(n)
		if _, err := o.e.disk.lstat(temp); err != nil {
			return
		}
		if o.e.disk.stale(temp) {
			_ = o.e.disk.remove(temp)
		}
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

// settle writes out what is buffered and makes it last, under no final name yet.
// An output that fails to settle is gone.
func (o *output) settle() error {
	err := o.buf.Flush()
	if err == nil && o.plain != nil {
		err = o.plain.Flush()
	}
	if err == nil && o.file != nil && o.final != "" {
		err = o.file.Sync()
	}
	if o.final == "" || err != nil { // else it stays open: closed, one without a name is gone, and others take a named one for abandoned
		if shut := o.shut(); err == nil {
			err = shut
		}
	}
	if err != nil {
		o.Abort()
		return o.fail(err, "")
	}
	return nil
}

// shut closes the file, once.
func (o *output) shut() error {
	if o.file == nil {
		return nil
	}
	f := o.file
	o.file = nil
	return f.Close()
}

// publish gives a settled output its name.
func (o *output) publish() error {
	o.closed = true
	if o.final == "" {
		return nil
	}
	if err := o.rename(); err != nil {
		_ = o.shut()
		if o.temp != "" {
			_ = o.e.disk.remove(o.temp)
		}
		return o.fail(err, "")
	}
	if err := o.e.disk.sync(filepath.Dir(o.final)); err != nil {
		return o.fail(fmt.Errorf("the folder did not take the new name for good: %w", err), "")
	}
	return nil
}

// rename gives the temporary file the final name. One without a name takes it where
// it is free; to replace a file it must first have another.
func (o *output) rename() error {
	if o.temp == "" {
		err := o.e.disk.link(o.file, o.final)
		if err == nil {
			return o.shut()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := o.name(func(temp string) error { return o.e.disk.link(o.file, temp) }); err != nil {
			return err
		}
	}
	defer o.e.temps.drop(o.temp)
	if err := o.shut(); err != nil {
		return err
	}
	return o.e.disk.rename(o.temp, o.final)
}

// Abort leaves what stood under the name as it was. After Commit it does nothing.
func (o *output) Abort() {
	if o.closed {
		return
	}
	o.closed = true
	_ = o.shut()
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
