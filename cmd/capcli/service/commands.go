// Package service holds the command service and those under it.
package service

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command {
	return []*cobra.Command{newService(e)}
}
