// Package plan holds the commands that recommend: plan and its parts, decide, emit, and demo, a world to try
// them on.
package plan

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command {
	return []*cobra.Command{newPlan(e), newEmit(e), newDecide(e), newDemo(e)}
}
