package main

import (
	"capcli/cmd/report"
	"capcli/simulate/billing"
)

// writeFocus writes the rows of a bill to path ("" is stdout). Texts that a
// spreadsheet would take for formulas get a quote before them, as in CSV; numbers
// stay as they are.
func writeFocus(e *env, path string, rows func(add func(*billing.FOCUS))) error {
	if path == "" {
		path = "-"
	}
	out, err := e.create(path)
	if err != nil {
		return err
	}
	defer out.Abort()
	w := billing.WriteFOCUS(out, report.Guard)
	rows(w.Write)
	if err := w.Flush(); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}

// focusAccount is the BillingAccountId of rows that name no account: FOCUS wants
// one in every row.
const focusAccount = "main"
