package main

import "github.com/spf13/cobra"

func newBill(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bill",
		Short:   "Read a cloud bill, or price metered use under commitments",
		Example: "  capcli bill check focus.csv.gz",
	}
	group(cmd)
	cmd.AddCommand(newBillCheck(e))
	return cmd
}
