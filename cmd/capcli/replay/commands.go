// Package replay holds the commands that replay jobs: simulate, compare, validate, eta, explain, explore,
// what-if and mig.
package replay

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command {
	return []*cobra.Command{newSimulate(e), newCompare(e), newETA(e), newExplain(e), newExplore(e), newWhatIf(e), newMIG(e), newValidate(e)}
}
