package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// failing makes the n-th step on the disk fail with err: each write, sync, close
// and rename is a step.
type failing struct {
	left  int
	err   error
	named bool // the system has no files without a name
}

func (f *failing) step() error {
	f.left--
	if f.left == 0 {
		return f.err
	}
	return nil
}

func (f *failing) breakDisk(d files.Disk) files.Disk {
	out := d
	out.Create = func(name string, mode fs.FileMode) (files.File, error) {
		if err := f.step(); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		inner, err := d.Create(name, mode)
		return &failingFile{inner, f}, err
	}
	out.Unnamed = func(folder string, mode fs.FileMode) (files.File, error) {
		if f.named {
			return nil, errors.ErrUnsupported
		}
		inner, err := d.Unnamed(folder, mode)
		if err != nil {
			return nil, err
		}
		return &failingFile{inner, f}, nil
	}
	out.Link = func(open files.File, name string) error {
		if err := f.step(); err != nil {
			return &fs.PathError{Op: "link", Path: name, Err: err}
		}
		return d.Link(open.(*failingFile).File, name)
	}
	out.Rename = func(from, to string) error {
		if err := f.step(); err != nil {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
		return d.Rename(from, to)
	}
	return out
}

type failingFile struct {
	files.File
	f *failing
}

func (f *failingFile) Write(p []byte) (int, error) {
	if err := f.f.step(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *failingFile) Sync() error {
	if err := f.f.step(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *failingFile) Close() error {
	return errors.Join(f.f.step(), f.File.Close())
}

// TestNothingHalfWritten makes each step fail in turn, until one import passes:
// what stood there before stands there still, and nothing else is left.
func TestNothingHalfWritten(t *testing.T) {
	for ending, ways := range map[string][]bool{"csv": {false, true}, "parquet": {false}, "jsonl.gz": {true}} {
		for _, named := range ways {
			t.Run(fmt.Sprint(ending, ", named ", named), func(t *testing.T) {
				for n := 1; ; n++ {
					if n > 100 {
						t.Fatal("no import passes")
					}
					if failAt(t, n, "out."+ending, named) {
						if n < 8 {
							t.Errorf("passed when step %d failed: two files have at least 8 steps", n)
						}
						return
					}
				}
			})
		}
	}
}

func failAt(t *testing.T, n int, name string, named bool) (passed bool) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, name)
	var text strings.Builder
	text.WriteString("job_id,submit,gpus,run_s\nbad,x,1,1\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "job-%d,%d,1,1\n", i, i)
	}
	for path, body := range map[string]string{in: text.String(), out: "old"} {
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e, stdout, stderr := shelltest.NewEnv()
	f := &failing{left: n, err: syscall.ENOSPC, named: named}
	e.Disk = f.breakDisk(e.Disk)
	code := run(t.Context(), e, []string{"import", "csv", in, "--out", out})
	if f.left > 0 {
		if code != 0 {
			t.Fatalf("nothing failed, exit %d: %s", code, stderr)
		}
		return true
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if code != shell.ExitOutput || string(got) != "old" || stdout.Len() > 0 {
		t.Errorf("step %d: exit %d, old file %q, stdout %q", n, code, got[:min(len(got), 20)], stdout)
	}
	if !strings.Contains(stderr.String(), "disk full") {
		t.Errorf("step %d: stderr %q does not say that the disk is full", n, stderr)
	}
	// The rejects go first, so they may be there when only the jobs failed.
	names := strings.ReplaceAll(ls(t, dir), " out.rejects.csv", "")
	if names != "in.csv "+name {
		t.Errorf("step %d: left behind: %s", n, names)
	}
	return false
}

func TestAtomicKeepsMode(t *testing.T) {
	for _, named := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "real.txt")
		if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
			t.Fatal(err)
		}
		e, _, _ := shelltest.NewEnv()
		e.Disk = (&failing{named: named}).breakDisk(e.Disk)
		o, err := e.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Abort()
		if _, err := o.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(name); string(got) != "old" {
			t.Errorf("before Commit the file holds %q", got)
		}
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(name)
		if info, err := os.Stat(name); err != nil || string(got) != "new" || info.Mode().Perm() != 0o640 {
			t.Errorf("the file holds %q with mode %v, %v", got, info.Mode(), err)
		}
	}
}

// A symbolic link is neither written through nor replaced: the message says where
// it leads.
func TestLinksAreNotWrittenThrough(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.csv")
	if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link.csv": "real.csv", "device.csv": os.DevNull, "nowhere.csv": "gone.csv"} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(target, link); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
		_, errs := capcliRun(t, shell.ExitOutput, "trace", "describe", filepath.Join("..", "..", "testdata", "traces", "csv.csv"), "--tz", "UTC", "-o", "csv", "--out", link)
		if !strings.Contains(errs, "is a symbolic link") || target == "real.csv" && !strings.Contains(errs, "hint: name the file itself: "+real) {
			t.Errorf("%s: said %s", name, errs)
		}
		if got, err := os.Readlink(link); err != nil || got != target {
			t.Errorf("%s leads to %q now, %v", name, got, err)
		}
	}
	if got, _ := os.ReadFile(real); string(got) != "old" {
		t.Errorf("the file behind the link holds %q", got)
	}
}

// What a run that was killed left under the names of its temporary files is removed
// by the next that writes the same file; what a living one writes is not.
func TestAbandonedFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.csv")
	e, _, _ := shelltest.NewEnv()
	e.Disk = (&failing{named: true}).breakDisk(e.Disk)
	if err := os.WriteFile(filepath.Join(dir, ".out.csv.0.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !e.Disk.Stale(filepath.Join(dir, ".out.csv.0.tmp")) {
		t.Skip("files cannot be locked here")
	}
	first, err := e.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	second, err := e.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if names := ls(t, dir); names != ".out.csv.0.tmp .out.csv.1.tmp" {
		t.Errorf("two runs write %q", names)
	}
	for i, o := range []*files.Output{second, first} {
		if _, err := fmt.Fprint(o, i); err != nil {
			t.Fatal(err)
		}
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(name); string(got) != "1" || ls(t, dir) != "out.csv" {
		t.Errorf("out.csv holds %q, the folder %q", got, ls(t, dir))
	}
}

func TestAtomicRefuses(t *testing.T) {
	dir := t.TempDir()
	fixed := filepath.Join(dir, "fixed")
	if err := os.WriteFile(fixed, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, path, want string }{
		{"a folder", dir, "it is a folder"},
		{"no such folder", filepath.Join(dir, "no", "x"), "no such file or directory"},
		{"a file as a folder", filepath.Join(fixed, "x"), "not a directory"},
		{"read-only", fixed, "read-only"},
	}
	for _, tt := range tests {
		e, _, _ := shelltest.NewEnv()
		_, err := e.Create(tt.path)
		if err == nil || shell.ExitCode(err) != shell.ExitOutput || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, exit %d, want %q and 8", tt.name, err, shell.ExitCode(err), tt.want)
		}
	}
	if names := ls(t, dir); names != "fixed" {
		t.Errorf("left behind: %s", names)
	}
}
