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

// Output is a file being written. The bytes go to a temporary file in the same folder, which gets
// the final name in Commit. Until then the old file of that name is untouched, and Abort leaves
// nothing behind. The temporary file has no name where the system supports that, so that a killed
// program leaves nothing either. Elsewhere the next run that writes the same name removes the
// leftover.
//
//	out, err := target.Create(path)
//	if err != nil { return err }
//	defer out.Abort()
//	… write …
//	return out.Commit()
type Output struct {
	in      *Target
	Path    string        // path that the user gave, for messages
	final   string        // final name of the temporary file; "" for stdout, devices and pipes
	temp    string        // name of the temporary file; "" where it has none
	file    File          // nil for stdout and after closing
	to      io.Writer     // destination of buf
	plain   *report.Plain // filter between buf and a terminal; nil where stdout is no terminal
	buf     *bufio.Writer
	Written int64 // bytes written to the destination
	err     error // error of the first write that failed
	closed  bool
}

// Target is the destination of outputs: a disk and stdout.
type Target struct {
	Disk     Disk
	Temps    *Temps
	Stdout   io.Writer
	Terminal bool // stdout is a terminal
}

// Create starts the file called path; "-" is stdout. A terminal gets no control characters.
// Devices and pipes are written in place. A symbolic link is refused, except one of the system in
// /dev or /proc to a stream. Every error is a *WriteError.
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

// followLink returns the target of the symbolic link path where it may be written: only streams
// that the system itself provides as links, such as /dev/stdout. Any other link could have been
// made by somebody else to lead to a file of the user. hint belongs to the error.
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

// begin creates the temporary file, with the permissions of the file it replaces; old is nil
// where there is none.
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

// tempName returns the n-th candidate for the name of the temporary file of o.
func (o *Output) tempName(n int) string {
	folder, name := filepath.Split(o.final)
	return filepath.Join(folder, fmt.Sprintf(".%s.%d.tmp", name, n))
}

// name calls make with candidates for the name of the temporary file until one is free.
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

// tidy removes the temporary files of o that killed runs left behind.
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

// Write adds p to the buffer. Commit returns the error of a failed write again.
func (o *Output) Write(p []byte) (int, error) { return o.buf.Write(p) }

// Raw lets control characters through to a terminal.
func (o *Output) Raw() { o.to = o.in.Stdout }

// counted passes writes of the buffer to the destination, counts the bytes and keeps the first
// error.
type counted struct{ o *Output }

func (c counted) Write(p []byte) (int, error) {
	n, err := c.o.to.Write(p)
	c.o.Written += int64(n)
	if c.o.err == nil {
		c.o.err = err
	}
	return n, err
}

// Commit writes the buffer, makes the file durable and gives it its final name.
func (o *Output) Commit() error {
	if err := o.Settle(); err != nil {
		return err
	}
	return o.Publish()
}

// Settle writes the buffer and makes the file durable, but does not give it its final name. Where
// it fails the output is aborted.
func (o *Output) Settle() error {
	err := o.buf.Flush()
	if err == nil && o.plain != nil {
		err = o.plain.Flush()
	}
	if err == nil && o.file != nil && o.final != "" {
		err = o.file.Sync()
	}
	if o.final == "" || err != nil { // else it stays open: closing would delete an unnamed file and unlock a named one
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

// closeOnce closes the file; a second call does nothing.
func (o *Output) closeOnce() error {
	if o.file == nil {
		return nil
	}
	f := o.file
	o.file = nil
	return f.Close()
}

// Publish gives a settled output its final name.
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

// rename gives the temporary file the final name. An unnamed file can take the name directly
// where it is free. To replace a file it first gets a temporary name.
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

// Abort removes the temporary file and leaves the old file as it was. After Commit it does
// nothing.
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

// Failed returns the first write error of o as a *WriteError where there is one, else err. A
// command that got an error while writing to o returns it through Failed.
func (o *Output) Failed(err error) error {
	if err != nil && o.err != nil {
		return o.fail(o.err, "")
	}
	return err
}

func (o *Output) fail(err error, hint string) error {
	return &WriteError{Path: o.Path, Written: o.Written, Err: err, Hint: hint, Clean: o.final != ""}
}

// Temps lists the named temporary files, which a program removes when it must stop at once.
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

// RemoveAll removes the files. It keeps the lock, so that no file gets its final name afterwards.
func (t *Temps) RemoveAll(d Disk) {
	t.mu.Lock()
	for _, n := range t.names {
		_ = d.Remove(n)
	}
}
