// Package data holds the commands about files: import, trace, bill, prices, scenarios, schema and verify.
package data

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
)

// Commands returns the commands of this package over e.
func Commands(e *shell.Env) []*cobra.Command {
	return []*cobra.Command{newBill(e), newImport(e), newTrace(e), newScenarios(e), newPrices(e), newSchema(e), newVerify(e)}
}
