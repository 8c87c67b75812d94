package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"capcli/cmd/files"
)

// A kill in the middle of writing leaves nothing, whether or not the file was there.
func TestKillLeavesNoTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	if f, err := files.OS().Unnamed(dir, 0o600); err != nil {
		t.Skip("this file system has no files without a name: ", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old.csv"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"old.csv", "new.csv"} {
		cmd := exec.Command(program(t), "import", "csv", "-", "--out", out)
		cmd.Dir = dir
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The program holds more than a pipe does when this has been taken: it reads, and so it writes.
		_, err = io.WriteString(in, "job_id,submit,gpus,run_s\n"+strings.Repeat("a,0,1,1\n", 1<<17))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if names := ls(t, dir); names != "old.csv" {
			t.Errorf("left behind: %s", names)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "old.csv")); string(got) != "old" {
		t.Errorf("the old file holds %q", got)
	}
}
