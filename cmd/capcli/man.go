//go:build man

package main

import (
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"capcli/cmd/shell"
)

// Built with the tag man, as make dist does, the program writes its own manual pages: go run -tags man
// ./cmd/capcli DIR. The date is that of SOURCE_DATE_EPOCH.
func init() {
	seconds, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	day := time.Unix(seconds, 0).UTC()
	root := newRoot(&shell.Env{Getenv: func(string) string { return "" }})
	root.DisableAutoGenTag = true
	plainHelp(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "CAPCLI", Section: "1", Source: "capcli", Date: &day}, os.Args[1]); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// plainHelp lets the generator see every command's own flags.
func plainHelp(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	for _, c := range cmd.Commands() {
		plainHelp(c)
	}
}
