package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/schema"
	"capcli/cmd/shell"
)

// version, commit and date are set by the linker: make build, make dist.
var version, commit, date string

func newVersion(e *shell.Env) *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of capcli",
		Example: "  capcli version\n  capcli version -o json",
		Args:    shell.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := schema.Build(shell.VersionText(), commit, date)
			switch form {
			case "json":
				return shell.Emit(e, shell.OutputOptions{Form: form}, report.Doc{Data: v})
			case "":
				_, err := fmt.Fprintf(e.Stdout, "capcli %s %s %s\n", v.Version, v.Go, v.Platform)
				return err
			}
			return &shell.UsageError{Text: fmt.Sprintf("-o wants json, found %q", form)}
		},
	}
	cmd.Flags().StringVarP(&form, "output", "o", "", "`FORM`: json says also the commit, features and schemas")
	shell.Complete(cmd, "output", func() []string { return []string{"json"} })
	return cmd
}
