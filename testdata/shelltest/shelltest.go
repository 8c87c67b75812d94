// Package shelltest makes outside worlds for tests of commands.
package shelltest

import (
	"bytes"
	"strings"
	"time"

	"capcli/cmd/files"
	"capcli/cmd/shell"
)

// NewEnv is a world whose clock stands still and whose streams are buffers. No variable is set but GOGC, so that a
// recording collects no more often than other commands.
func NewEnv() (e *shell.Env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &shell.Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Disk:   files.OS(),
		Temps:  &files.Temps{},
		Getenv: func(name string) string { return map[string]string{"GOGC": "100"}[name] },
		Now:    func() time.Time { return time.Unix(0, 0) },
	}, stdout, stderr
}
