package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/decide/trial"
)

// PastDoc is the report of rules tried on the past.
func PastDoc(r *trial.Result) report.Doc {
	rules := []report.Field[trial.Rule]{{Name: "term", Align: report.Left}, {Name: "rule", Align: report.Left}, {Name: "cost_usd", Head: "cost", Priority: 1}, {Name: "regret_usd", Head: "regret"}}
	for _, c := range [][2]string{{"regret_share", "of hindsight"}, {"regret_share_mean", "mean"}, {"regret_share_p90", "p90"}, {"regret_share_worst", "worst"}} {
		rules = append(rules, report.Field[trial.Rule]{Name: c[0], Head: c[1], As: report.AsPercent})
	}
	rules = append(rules, report.Field[trial.Rule]{Name: "ranges_held", Head: "ranges held", Priority: 3}, report.Field[trial.Rule]{Name: "ranges_promised", Head: "of", Priority: 3})
	lines := []report.Field[trial.Line]{{Name: "term", Align: report.Left}, {Name: "origin", Cell: func(l trial.Line) any { return dayCell(l.Origin) }}}
	for _, c := range [][2]string{{"hindsight_gpus", "hindsight"}, {"gpus", "forecast"}, {"cost_usd", "cost"}, {"regret_usd", "regret"}, {"rule_30_gpus", "30-day rule"}} {
		lines = append(lines, report.Field[trial.Line]{Name: c[0], Head: c[1]})
	}
	lines = append(lines, report.Field[trial.Line]{Name: "regret_share", Head: "regret", As: report.AsPercent}, report.Field[trial.Line]{Name: "rule_30_regret_share", Head: "its regret", As: report.AsPercent})
	rulesTable, linesTable := report.Table{Name: "rules", Title: "Regret by rule"}, report.Table{Name: "origins", Title: "By date of decision", Most: 40}
	return report.Doc{Lead: r.Answer, Notes: r.Notes, Data: r, Tables: []report.Table{report.Fill(rulesTable, r.Rules(), rules), report.Fill(linesTable, r.Lines(), lines)}}
}
