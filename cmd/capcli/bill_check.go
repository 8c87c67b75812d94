package main

import (
	"context"
	"fmt"
	"strings"

	"capcli"

	"github.com/spf13/cobra"

	"capcli/simulate/billing"
)

// billCheckOptions are what the flags of bill check say.
type billCheckOptions struct {
	output      outputOptions
	spreadsheet bool
	enforce     bool
}

func newBillCheck(e *env) *cobra.Command {
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
		Args: wantArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runBillCheck(cmd.Context(), e, o, args[0]) },
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "take dates such as 4/1/25 (month first) and amounts such as $1,000.00 too")
	f.BoolVar(&o.enforce, "enforce", false, "exit 5 when a commitment does not conserve or a row breaks a rule of FOCUS 1.2")
	return cmd
}

func runBillCheck(ctx context.Context, e *env, o billCheckOptions, name string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	check := billing.NewFocusCheck()
	read, err := readFocus(ctx, e, name, billing.FocusOptions{Spreadsheet: o.spreadsheet}, check.Columns, check.Add)
	if err != nil {
		return overflown(name, err)
	}
	d := &focusDoc{}
	if d.FocusResult, err = check.Result(name, read); err != nil {
		return overflown(name, err)
	}
	if err := emit(e, o.output, d.doc()); err != nil {
		return err
	}
	switch broken := d.Broken(); {
	case !o.enforce:
	case len(broken) > 0:
		return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("%s does not conserve: commitment %s: %s", name, broken[0].ID, broken[0].Why)}
	case !d.Conforms:
		return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("%s is not what FOCUS 1.2 wants: %s", name, d.breach())}
	}
	return nil
}

// breach is the first thing that is not what FOCUS wants.
func (d *focusDoc) breach() string {
	if len(d.Odd) > 0 {
		return fmt.Sprintf("line %d: %s", d.Odd[0].Line, d.Odd[0].Text)
	}
	return "it lacks the mandatory columns " + strings.Join(d.Missing, ", ")
}

// readFocus reads a bill in FOCUS, and gives its columns to begin, where it is not
// nil, and each row to add.
func readFocus(ctx context.Context, e *env, name string, o billing.FocusOptions, begin func(columns []string), add func(*billing.FOCUS) error) (*billing.FocusReport, error) {
	text, file, done, err := openText(e, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	r, err := billing.ReadFOCUS(file, text, o)
	if err != nil {
		return nil, err
	}
	if begin != nil {
		begin(r.Columns())
	}
	p := newProgress(e, "rows")
	n := int64(0)
	for row, err := range r.Rows() {
		if err == nil {
			err = add(row)
		}
		if err != nil {
			return nil, err
		}
		if n++; n%4096 == 0 {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			p.report(n, 0)
		}
	}
	p.end(n)
	rep := r.Report()
	return &rep, nil
}
