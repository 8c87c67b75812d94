package tables

import (
	"capcli/cmd/report"
	"capcli/forecast/outlook"
)

// modelTrial is the trial of a model on one series; Trial is nil where the model could not be
// tried.
type modelTrial struct {
	series, model string
	*outlook.Trial
}

// BacktestDoc is the report of a backtest: each model, then each series.
func BacktestDoc(r *outlook.BacktestResult) report.Doc {
	models := scoreFields(r.Levels, func(m outlook.ModelScore) *outlook.Trial {
		return &outlook.Trial{Error: m.Error, OWA: m.OWA, MASE: m.MASE, SMAPE: m.SMAPE, CRPS: m.CRPS, Coverage: m.Coverage}
	}, report.Field[outlook.ModelScore]{Name: "model"})
	models = append(models, report.Field[outlook.ModelScore]{Name: "series", Priority: 1})
	each := scoreFields(
		r.Levels, func(t modelTrial) *outlook.Trial { return t.Trial },
		report.Field[modelTrial]{Name: "unique_id", Head: "series", Cell: func(t modelTrial) any { return t.series }},
		report.Field[modelTrial]{Name: "model", Cell: func(t modelTrial) any { return t.model }},
	)
	var trials []modelTrial
	for _, s := range r.Series {
		for k, t := range s.ByModel {
			trials = append(trials, modelTrial{s.ID, r.Models[k].Model, t})
		}
	}
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "models"}, r.Models, models),
		report.Fill(report.Table{Name: "series", Aside: true}, trials, each),
	}}
}

// scoreFields are the columns of a trial's measures, after the columns first. trial returns the
// trial of a row, or nil where there is none.
func scoreFields[R any](levels []float64, trial func(R) *outlook.Trial, first ...report.Field[R]) []report.Field[R] {
	field := func(name, head string, priority int, as func(float64) any, get func(*outlook.Trial) Figure) report.Field[R] {
		return report.Field[R]{Name: name, Head: head, Priority: priority, As: as, Cell: func(row R) any {
			if t := trial(row); t != nil {
				return get(t)
			}
			return nil
		}}
	}
	out := append(
		first,
		field("error", "", 0, report.AsRatio, func(t *outlook.Trial) Figure { return t.Error }),
		field("owa", "OWA", 0, report.AsRatio, func(t *outlook.Trial) Figure { return t.OWA }),
		field("mase", "MASE", 0, report.AsRatio, func(t *outlook.Trial) Figure { return t.MASE }),
		field("smape", "sMAPE %", 0, nil, func(t *outlook.Trial) Figure { return t.SMAPE }),
		field("crps", "CRPS", 1, nil, func(t *outlook.Trial) Figure { return t.CRPS }),
	)
	for k, level := range levels {
		text := outlook.LevelText(level)
		out = append(
			out,
			field("held-"+text, text+"% range held", 0, report.AsPercent, func(t *outlook.Trial) Figure { return t.Coverage[k].Held }),
			field("msis-"+text, "MSIS "+text, 2, nil, func(t *outlook.Trial) Figure { return t.Coverage[k].MSIS }),
		)
	}
	return out
}
