// Package shell is what the commands share: the outside world with the global flags, how results and errors
// are written, how far work is, flags that several commands have, and the files, folders and servers that
// flags name.
package shell

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/profile/bucket"
)

// Env is the outside world as a command sees it, with the global flags.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Screen         Screen
	Disk           files.Disk
	Temps          *files.Temps // files without their final name yet
	Getenv         func(string) string
	Web            http.RoundTripper // transport of requests to servers; nil is the default
	Now            func() time.Time
	Program        func() (string, error) // the path of this program; nil is unknown

	Quiet, Verbose bool
	NoColor        bool
	Secrets        *strings.Replacer // replaces secrets in messages; nil replaces nothing
	Progress       string            // none, plain or json; "" chooses by what stderr is
	Form           string            // the value of -o of the running command
	Cmd            *cobra.Command    // the running command; messages name its flags

	buckets []*bucket.Bucket // those opened, with -v

	Emitted func(report.Doc) // receives results instead of stdout, for completion; nil elsewhere
}

// Screen describes where stdout and stderr go.
type Screen struct {
	Stdout, Stderr bool // whether the stream is a terminal
	Width          int  // columns of stdout; 0 is unknown
}

// Stopped is the error of a signal that ended the program.
type Stopped struct{ By os.Signal }

func (s Stopped) Error() string { return fmt.Sprintf("stopped by %v", s.By) }

// Code is the exit code of a program that the signal ended.
func (s Stopped) Code() int {
	if s.By == os.Interrupt {
		return ExitInterrupted
	}
	return ExitTerminated
}

// Version is that of the build; "" where it is not known.
var Version string

// VersionText is the version of this program: that of the linker, else the revision or module
// version of the build; "unknown" without any.
func VersionText() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
