package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/schema"
)

// version, commit and date are set by the linker: make build, make dist.
var version, commit, date string

func newVersion(e *env) *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of capcli",
		Example: "  capcli version\n  capcli version -o json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := schema.Build(versionText(), commit, date)
			switch form {
			case "json":
				return emit(e, outputOptions{form: form}, report.Doc{Data: v})
			case "":
				_, err := fmt.Fprintf(e.stdout, "capcli %s %s %s\n", v.Version, v.Go, v.Platform)
				return err
			}
			return &usageError{text: fmt.Sprintf("-o wants json, found %q", form)}
		},
	}
	cmd.Flags().StringVarP(&form, "output", "o", "", "`FORM`: json says also the commit, features and schemas")
	complete(cmd, "output", func() []string { return []string{"json"} })
	return cmd
}

// versionText is the version of this program: that of the linker, else the revision or module
// version of the build; "unknown" without any.
func versionText() string {
	if version != "" {
		return version
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
