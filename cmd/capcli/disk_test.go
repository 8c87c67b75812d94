package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// silentPipe is the end of a pipe through which nothing comes.
type silentPipe struct {
	fs.FileInfo
	waits func()
}

func (p silentPipe) Stat() (fs.FileInfo, error) { return p, nil }

func (p silentPipe) Mode() fs.FileMode { return fs.ModeNamedPipe }

func (p silentPipe) IsDir() bool { return false }

func (p silentPipe) ModTime() time.Time { return time.Time{} }

func (p silentPipe) Close() error { return nil }

func (p silentPipe) Read([]byte) (int, error) {
	p.waits()
	select {}
}

// One TERM ends a command that waits until somebody opens the other end of a pipe,
// or until something comes through it.
func TestOneSignalEndsAWaitForAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := os.WriteFile(pipe, nil, 0o600); err != nil { // what lstat sees of it is replaced below
		t.Fatal(err)
	}
	commands := [][]string{
		{"trace", "describe", pipe},
		{"import", "csv", pipe, "--out", "-"},
		{"forecast", pipe},
		{"simulate", pipe},
		{"simulate", "--trace", pipe},
		{"profile", "--source", "smi", "--where", pipe, "--out", pipe + ".out"},
		{"trace", "describe", filepath.Join("..", "..", "testdata", "traces", "csv.csv"), "--read", "tz=UTC", "-o", "csv", "--out", pipe},
	}
	for _, args := range commands {
		for _, opens := range []bool{false, true} {
			writes := args[len(args)-1] == pipe && args[len(args)-2] == "--out"
			if writes && opens {
				continue // what is written waits in the pipe
			}
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			var once sync.Once
			waits := func() { once.Do(func() { stop(shell.Stopped{By: syscall.SIGTERM}) }) }
			e, _, stderr := shelltest.NewEnv()
			real := e.Disk
			e.Disk.Open = func(name string) (fs.File, error) {
				switch {
				case name != pipe:
					return real.Open(name)
				case opens:
					return silentPipe{waits: waits}, nil
				}
				waits()
				select {}
			}
			e.Disk.Lstat = func(name string) (fs.FileInfo, error) {
				if name == pipe && writes {
					return silentPipe{}, nil
				}
				return real.Lstat(name)
			}
			e.Disk.Device = func(string) (files.File, error) {
				waits()
				select {}
			}
			if code := run(ctx, e, args); code != shell.ExitTerminated || !strings.HasPrefix(stderr.String(), "error: stopped by terminated") {
				t.Errorf("%s, opens %v: exit %d, said %q", strings.Join(args, " "), opens, code, stderr)
			}
		}
	}
}
