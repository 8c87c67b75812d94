package data

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/invoice"
	"capcli/cmd/shell"
	"capcli/scenarios/money/focus"
)

// billCheckOptions are the flags of capcli bill check.
type billCheckOptions struct {
	output      shell.OutputOptions
	spreadsheet bool
	enforce     bool
}

func newBillCheck(e *shell.Env) *cobra.Command {
	var o billCheckOptions
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Read a FOCUS bill: totals, utilisation, what went unused, and whether it adds up",
		Long: "Reads a cloud bill in FOCUS 1.0, 1.1 or 1.2 (CSV, packed or not, or Parquet) and says what it comes to by service,\n" +
			"commitment, status, tag and month; how much of each commitment was used; the coverage and the effective savings\n" +
			"rate. Of each commitment, what its usage is charged (EffectiveCost, used and unused) must be what was bought\n" +
			"(BilledCost): where it is not, bill check says by how much. Each row is held against the rules of FOCUS 1.2 for the\n" +
			"columns that the bill has: what must be there, and that price x quantity is cost (--table odd lists the breaches).",
		Example: "  capcli bill check focus.csv.gz\n" +
			"  capcli bill check focus.csv --table commitments -o csv\n" +
			"  capcli bill check focus.csv --enforce -q || echo 'does not add up'",
		Args: shell.WantArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runBillCheck(cmd.Context(), e, o, args[0]) },
	}
	shell.AddOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "also accept dates such as 4/1/25 (month first) and amounts such as $1,000.00")
	f.BoolVar(&o.enforce, "enforce", false, "exit 5 when a commitment does not balance or a row breaks a rule of FOCUS 1.2")
	return cmd
}

func runBillCheck(ctx context.Context, e *shell.Env, o billCheckOptions, name string) error {
	check := focus.NewCheck()
	read, err := shell.ReadFocus(ctx, e, name, focus.Options{Spreadsheet: o.spreadsheet}, check.Columns, check.Add)
	if err != nil {
		return overflown(name, err)
	}
	d := &invoice.Check{}
	if d.Result, err = check.Conclude(name, read); err != nil {
		return overflown(name, err)
	}
	if err := shell.Emit(e, o.output, d.Doc()); err != nil {
		return err
	}
	switch broken := d.Broken(); {
	case !o.enforce:
	case len(broken) > 0:
		return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("%s does not balance: commitment %s: %s", name, broken[0].ID, broken[0].Why)}
	case !d.Conforms:
		return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("%s breaks a rule of FOCUS 1.2: %s", name, d.Breach())}
	}
	return nil
}
