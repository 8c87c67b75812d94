// Package profile holds the commands about GPUs at work: profile and those under it, and doctor.
package profile

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command {
	return []*cobra.Command{newProfile(e), newDoctor(e)}
}
