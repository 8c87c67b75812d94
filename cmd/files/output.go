package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"capcli/cmd/report"
)

// Output is a file on its way out. What is written goes to a temporary file in
// the same folder, which takes the final name in Commit; until then what stood
// under that name is untouched, and after Abort nothing is left behind. Where the
// system has files without a name the temporary file is one, so that a program
// that is killed leaves nothing either; elsewhere the next run that writes the same
// name removes what was left.
//
//	out, err := target.Create(path)
//	if err != nil { return err }
//	defer out.Abort()
//	… write …
//	return out.Commit()
type Output struct {
	in      *Target
	Path    string        // as the user named it, for messages
	final   string        // what the temporary file becomes; "" where there is none
	temp    string        // its name; "" where it has none
	file    File          // nil for stdout and when closed
	to      io.Writer     // what the buffer empties into
	plain   *report.Plain // between the buffer and a terminal; nil is none
	buf     *bufio.Writer
	Written int64 // bytes
	err     error // the first write that failed
	closed  bool
}

// Target is where files go.
type Target struct {
	Disk     Disk
	Temps    *Temps
	Stdout   io.Writer
	Terminal bool // stdout is one
}

// Create begins the file called path; "-" is stdout, which gets no control
// characters where it is a terminal. Devices and pipes are written in place; a
// symbolic link is refused. Every error is a *WriteError.
func (in *Target) Create(path string) (*Output, error) {
	o := &Output{in: in, Path: path}
	o.buf = bufio.NewWriterSize(counted{o}, 256<<10)
	if path == "-" {
		o.Path, o.to = "stdout", in.Stdout
		if in.Terminal {
			o.plain = report.NewPlain(in.Stdout)
			o.to = o.plain
		}
		return o, nil
	}
	info, err := in.Disk.Lstat(path)
	hint := ""
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, hint, err = in.followLink(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.final = path
	case err != nil:
		return nil, o.fail(err, hint)
	case info.IsDir():
		return nil, o.fail(errors.New("it is a folder; expected the name of a file"), "name a file in it: "+filepath.Join(path, "NAME"))
	case !info.Mode().IsRegular():
		if o.file, err = in.Disk.Device(path); err != nil {
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

// followLink returns what the symbolic link path leads to, if that may be written: only
// the streams that the system itself keeps as links, such as /dev/stdout. A link that
// somebody else laid could lead to any file of the user. The hint goes with the error.
func (in *Target) followLink(path string) (info fs.FileInfo, hint string, err error) {
	full := filepath.ToSlash(filepath.Clean(path))
	if strings.HasPrefix(full, "/dev/") || strings.HasPrefix(full, "/proc/") {
		info, err := in.Disk.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return info, "", err
		}
		return nil, "for stdout: -", errors.New("it leads to a file that is open already")
	}
	target, err := in.Disk.Resolve(path)
	if err != nil {
		return nil, "remove it: rm " + path, errors.New("it is a symbolic link that leads nowhere")
	}
	return nil, "name the file itself: " + target, errors.New("it is a symbolic link to " + target + ", and links are not written through")
}

// begin makes the temporary file, with the permissions of the one it replaces.
func (o *Output) begin(old fs.FileInfo) error {
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = old.Mode().Perm()
	}
	folder := filepath.Dir(o.final)
	o.tidy()
	if f, err := o.in.Disk.Unnamed(folder, mode); err == nil {
		o.file, o.to = f, f
		return nil
	}
	err := o.name(func(temp string) error {
		f, err := o.in.Disk.Create(temp, mode)
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
func (o *Output) tempName(n int) string {
	folder, name := filepath.Split(o.final)
	return filepath.Join(folder, fmt.Sprintf(".%s.%d.tmp", name, n))
}

// name has a temporary file made under the first name that is free.
func (o *Output) name(make func(temp string) error) error {
	for n := 0; ; n++ {
		temp := o.tempName(n)
		err := make(temp)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue // another run is writing the same name
		}
		if err == nil {
			o.temp = temp
			o.in.Temps.add(temp)
		}
		return err
	}
}

// tidy removes what runs that were killed left under the names of o.
func (o *Output) tidy() {
	for n := range 1000 {
		temp := o.tempName(n)
		if _, err := o.in.Disk.Lstat(temp); err != nil {
			return
		}
		if o.in.Disk.Stale(temp) {
			_ = o.in.Disk.Remove(temp)
		}
	}
}

// Write adds p. A failed write is told again by Commit.
func (o *Output) Write(p []byte) (int, error) { return o.buf.Write(p) }

// Raw lets control characters through to a terminal.
func (o *Output) Raw() { o.to = o.in.Stdout }

// counted is where an output's buffer empties into.
type counted struct{ o *Output }

func (c counted) Write(p []byte) (int, error) {
	n, err := c.o.to.Write(p)
	c.o.Written += int64(n)
	if c.o.err == nil {
		c.o.err = err
	}
	return n, err
}

// Commit writes out what is buffered, makes it last and gives it its name.
func (o *Output) Commit() error {
	if err := o.Settle(); err != nil {
		return err
	}
	return o.Publish()
}

// Settle writes out what is buffered and makes it last, under no final name yet.
// An output that fails to settle is gone.
func (o *Output) Settle() error {
	err := o.buf.Flush()
	if err == nil && o.plain != nil {
		err = o.plain.Flush()
	}
	if err == nil && o.file != nil && o.final != "" {
		err = o.file.Sync()
	}
	if o.final == "" || err != nil { // else it stays open: closed, one without a name is gone, and others take a named one for abandoned
		if shut := o.closeOnce(); err == nil {
			err = shut
		}
	}
	if err != nil {
		o.Abort()
		return o.fail(err, "")
	}
	return nil
}

// closeOnce closes the file, once.
func (o *Output) closeOnce() error {
	if o.file == nil {
		return nil
	}
	f := o.file
	o.file = nil
	return f.Close()
}

// Publish gives a settled output its name.
func (o *Output) Publish() error {
	o.closed = true
	if o.final == "" {
		return nil
	}
	if err := o.rename(); err != nil {
		_ = o.closeOnce()
		if o.temp != "" {
			_ = o.in.Disk.Remove(o.temp)
		}
		return o.fail(err, "")
	}
	if err := o.in.Disk.Sync(filepath.Dir(o.final)); err != nil {
		return o.fail(fmt.Errorf("the folder did not take the new name for good: %w", err), "")
	}
	return nil
}

// rename gives the temporary file the final name. One without a name takes it where
// it is free; to replace a file it must first have another.
func (o *Output) rename() error {
	if o.temp == "" {
		err := o.in.Disk.Link(o.file, o.final)
		if err == nil {
			return o.closeOnce()
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := o.name(func(temp string) error { return o.in.Disk.Link(o.file, temp) }); err != nil {
			return err
		}
	}
	defer o.in.Temps.drop(o.temp)
	if err := o.closeOnce(); err != nil {
		return err
	}
	return o.in.Disk.Rename(o.temp, o.final)
}

// Abort leaves what stood under the name as it was. After Commit it does nothing.
func (o *Output) Abort() {
	if o.closed {
		return
	}
	o.closed = true
	_ = o.closeOnce()
	if o.temp != "" {
		_ = o.in.Disk.Remove(o.temp)
		o.in.Temps.drop(o.temp)
	}
}

// Failed gives err, or the write error that caused it: a command that wrote into
// o and got an error of any kind returns this.
func (o *Output) Failed(err error) error {
	if err != nil && o.err != nil {
		return o.fail(o.err, "")
	}
	return err
}

func (o *Output) fail(err error, hint string) error {
	return &WriteError{Path: o.Path, Written: o.Written, Err: err, Hint: hint, Clean: o.final != ""}
}

// Temps are the temporary files that a program removes when it must stop at once.
type Temps struct {
	mu    sync.Mutex
	names []string
}

func (t *Temps) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = append(t.names, name)
}

func (t *Temps) drop(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = slices.DeleteFunc(t.names, func(n string) bool { return n == name })
}

// RemoveAll removes the files. The lock stays taken: no file may take its final
// name any more.
func (t *Temps) RemoveAll(d Disk) {
	t.mu.Lock()
	for _, n := range t.names {
		_ = d.Remove(n)
	}
}
