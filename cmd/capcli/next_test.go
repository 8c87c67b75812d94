package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"capcli/cmd/shell"
)

// tryNext is the variable that makes the program of the scripts run each `next:` that it prints.
const tryNext = "CAPCLI_TEST_NEXT"

// exitNext is the exit code of a script's command whose `next:` does not run.
const exitNext = 99

// runAndNext runs the program in a process of the scripts of TestScript and returns its exit code: see playNext.
func runAndNext() int {
	if os.Getenv(tryNext) == "" {
		return runProgram()
	}
	return playNext(newWorld, runWorld)
}

// playNext plays a command in a world and returns its exit code. What it proposes with `next:` it runs at once, in
// the state of the script; each must exit with 0.
func playNext(world func() *shell.Env, play func(*shell.Env) int) int {
	e := world()
	var said bytes.Buffer
	stderr := e.Stderr
	e.Stdout, e.Stderr = io.MultiWriter(e.Stdout, &said), io.MultiWriter(e.Stderr, &said)
	code := play(e)
	for _, next := range proposed(said.String()) {
		if why := failsNext(world(), next); why != "" {
			_, _ = fmt.Fprintf(stderr, "next: capcli %s: %s\n", strings.Join(next, " "), why)
			code = exitNext
		}
	}
	return code
}

// nextLine is what follows `next:` in an output.
var nextLine = regexp.MustCompile(`(?m)\bnext:\s+(.*)$`)

// proposed returns the arguments of the commands that an output proposes with `next:`.
func proposed(output string) [][]string {
	var out [][]string
	for _, m := range nextLine.FindAllStringSubmatch(output, -1) {
		for _, words := range shellCommands(m[1]) {
			if words[0] != "capcli" {
				words = append([]string{"", "does not start with capcli:"}, words...)
			}
			out = append(out, words[1:])
		}
	}
	return out
}

// failsNext runs a proposed command in a world and says how it fails; "" where it does not.
func failsNext(e *shell.Env, args []string) string {
	var said bytes.Buffer
	e.Stdin, e.Stdout, e.Stderr = strings.NewReader(""), &said, &said
	e.Screen = shell.Screen{}
	if code := run(context.Background(), e, args); code != 0 {
		return fmt.Sprintf("exit %d: %s", code, &said)
	}
	return ""
}

func TestProposed(t *testing.T) {
	for _, tt := range []struct{ output, want string }{
		{"wrote a. next: capcli compare a b\n", "[[compare a b]]"},
		{"next:     capcli trace describe jobs.csv\nnothing", "[[trace describe jobs.csv]]"},
		{"next: look at it", "[[does not start with capcli: look at it]]"},
		{"the next: of nothing in JSON", "[[does not start with capcli: of nothing in JSON]]"},
		{"what comes next", "[]"},
	} {
		if got := fmt.Sprint(proposed(tt.output)); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.output, got, tt.want)
		}
	}
}
