package main

import (
	"strings"
	"testing"
	"time"
)

func TestCaught(t *testing.T) {
	done := false
	if got := caught(func() { done = true }); got != nil || !done {
		t.Errorf("caught %v of a function that ended, done %v", got, done)
	}
	if got := caught(func() { panic("the books") }); got != "the books" {
		t.Errorf("caught %v, want what it panicked with", got)
	}
}

// TestASimulationThatCrashesIsOneLine lets the clock panic on a worker of the
// only run: the program says so in a line, without a stack.
func TestASimulationThatCrashesIsOneLine(t *testing.T) {
	e, _, stderr := testEnv()
	e.now = func() time.Time { panic("no time") } // asked first by the worker, for its progress
	if code := run(t.Context(), e, []string{"simulate", "default", "-o", "tsv"}); code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	if got := stderr.String(); !strings.Contains(got, "capcli: internal error: no time\n") || strings.Contains(got, "goroutine ") {
		t.Errorf("stderr %q, want a line on the crash and no stack", got)
	}
}
