// Package forecast holds the command forecast and those under it.
package forecast

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command { return []*cobra.Command{newForecast(e)} }
