// Package pages holds the commands that show saved results: report and serve.
package pages

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command { return []*cobra.Command{newReport(e), newServe(e)} }
