package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On a terminal explore draws the scenario, answers keys, leaves the terminal as it found it, and
// prints the command of what it showed.
func TestExploreOnATerminal(t *testing.T) {
	t.Parallel()
	name := program(t)
	for _, c := range []struct{ name, env string }{{"no color", "NO_COLOR=1"}, {"as it is", "X="}} {
		ours, theirs := openTerminal(t)
		cmd := exec.Command(name, "explore", "default")
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"TERM=xterm-256color", c.env, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = theirs.Close()
		seen := talk(t, ours, []turnOfTalk{{"8106 jobs", "\x1b[C"}, {"was 40", "w"}, {"wrote default-explored.yaml", "q"}})
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v: %q", c.name, err, seen)
		}
		if !strings.Contains(seen, "capcli simulate default --set capacity.base.gpus=41") {
			t.Errorf("%s: no command at the end: %q", c.name, seen[max(0, len(seen)-400):])
		}
		if in, out := strings.Contains(seen, "\x1b[?1049h"), strings.Contains(seen, "\x1b[?1049l"); !in || !out {
			t.Errorf("%s: the second screen is entered (%v) and left (%v)", c.name, in, out)
		}
		if styled := strings.Contains(seen, "\x1b[7m"); styled != (c.env == "X=") {
			t.Errorf("%s: styles: %v", c.name, styled)
		}
		if _, err := os.Stat(cmd.Dir + "/default-explored.yaml"); err != nil {
			t.Error(err)
		}
	}
}

// turnOfTalk is what a terminal waits for, and what is typed then.
type turnOfTalk struct{ want, keys string }

// talk reads a terminal until the program closes it, and types. It returns all that was shown.
func talk(t *testing.T, ours *os.File, turns []turnOfTalk) string {
	t.Helper()
	var seen strings.Builder
	_ = ours.SetReadDeadline(time.Now().Add(time.Minute))
	for b := make([]byte, 64<<10); ; {
		n, err := ours.Read(b)
		seen.Write(b[:n])
		if err != nil { // EIO: the program has closed its side
			if os.IsTimeout(err) {
				t.Fatalf("a minute went by; wanted %q, saw %q", turns, seen.String())
			}
			return seen.String()
		}
		if len(turns) > 0 && strings.Contains(escapes.ReplaceAllString(seen.String(), ""), turns[0].want) {
			if _, err := ours.WriteString(turns[0].keys); err != nil {
				t.Fatal(err)
			}
			turns = turns[1:]
		}
	}
}

// The runs of a folder are explored as they were, and a scenario that has changed since is named.
func TestExploreAFolder(t *testing.T) {
	t.Parallel()
	name, dir := program(t), t.TempDir()
	text := "capcli: scenario/v1\nname: small\nperiod: 2027-01-01 to 2027-01-02\njobs: {generate: {classes: [{name: a, jobs_per_day: 20, sizes: [{gpus: 1}], run_median: 1h}]}}\ncapacity: [{name: own, kind: owned, gpus: 4, price: 1}]\n"
	env := []string{"TERM=xterm", "NO_COLOR=1", "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}
	if err := os.WriteFile(dir+"/small.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	made := exec.Command(name, "simulate", "small.yaml", "--out", "runs", "-q")
	made.Dir, made.Env = dir, env
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, changed := range []bool{false, true} {
		if changed {
			if err := os.WriteFile(dir+"/small.yaml", []byte(strings.Replace(text, "gpus: 4", "gpus: 9", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ours, theirs := openTerminal(t)
		cmd := exec.Command(name, "explore", "runs/small")
		cmd.Dir, cmd.Env = dir, env
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = theirs.Close()
		seen := talk(t, ours, []turnOfTalk{{" jobs", "\x1b[C"}, {"was 4", "q"}})
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %q", err, seen)
		}
		if !strings.Contains(seen, "--set capacity.own.gpus=5") || strings.Contains(seen, "has changed since the run") != changed {
			t.Errorf("changed %v: %q", changed, seen[max(0, len(seen)-500):])
		}
	}
}
