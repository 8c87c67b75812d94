package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"capcli"
	"capcli/cmd/files"
	"capcli/profile/store"
	"capcli/scenarios/play"
)

// SameFile reports whether a and b name the same file.
func SameFile(e *Env, a, b string) bool {
	one, err := e.Disk.Stat(a)
	if err != nil {
		return false
	}
	other, err := e.Disk.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// StoreError turns a disk error of a store into a WriteError, which has its own exit code. It
// returns other errors as they are.
func StoreError(err error, path string) error {
	if bad, ok := errors.AsType[*store.DiskError](err); ok {
		return &files.WriteError{Path: path, Err: bad, Hint: "earlier recordings are untouched: capcli verify " + path}
	}
	return err
}

// Numbered is a count with its noun: "1,204 ticks".
func Numbered(n int64, word string) string { return capcli.Grouped(n) + " " + capcli.Plural(n, word) }

// WriteWhole writes b to the file path, or to stdout for "-".
func WriteWhole(e *Env, path string, b []byte) error {
	return WriteOutput(e, path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// WriteOutput creates the file path, or uses stdout for "-", and lets write fill it. On an error no
// file is left.
func WriteOutput(e *Env, path string, write func(io.Writer) error) error {
	out, err := e.Create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := write(out); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}

// Say prints a line to stderr, unless --quiet is set.
func (e *Env) Say(text string) {
	if !e.Quiet {
		_, _ = fmt.Fprintln(e.Stderr, Printable(text))
	}
}

// WriteJSON writes data as indented JSON to the file name.
func WriteJSON(e *Env, name string, data any) error {
	var b bytes.Buffer
	if err := capcli.WriteJSON(&b, data); err != nil {
		return err
	}
	return WriteWhole(e, name, b.Bytes())
}

// ResultFile is the name of the result in a plan's folder.
const ResultFile = play.ResultFile

// SeenFrom returns the path of file relative to folder, so that both can move together; or the path
// itself if there is no relative one.
func SeenFrom(folder, file string) string {
	a, errA := filepath.Abs(folder)
	b, errB := filepath.Abs(file)
	rel, err := filepath.Rel(a, b)
	if errA != nil || errB != nil || err != nil {
		return filepath.ToSlash(file)
	}
	return filepath.ToSlash(rel)
}

// KeptError is the error of a signal that ended the work, with what was kept of it.
type KeptError struct {
	By   Stopped
	Text string
}

func (e *KeptError) Error() string { return e.By.Error() + "; " + e.Text }

func (e *KeptError) Unwrap() error { return e.By }

// ListOf returns an empty list for nil, because JSON writes a nil list as null.
func ListOf[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
