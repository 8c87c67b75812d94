package schema

import (
	"cmp"
	"reflect"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/cmd/report/paper"
	"capcli/forecast/outlook"
	"capcli/profile"
	"capcli/profile/anomaly"
	"capcli/profile/heat"
	"capcli/profile/inference"
	"capcli/profile/logs/jobfile"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/trace"
	"capcli/profile/nvml"
	"capcli/profile/scaling"
	"capcli/profile/store"
	"capcli/profile/upkeep"
	"capcli/scenarios"
	"capcli/scenarios/decide"
	"capcli/scenarios/decide/eta"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/joint"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/decide/plan/rationale"
	"capcli/scenarios/decide/plan/review"
	"capcli/scenarios/decide/plan/savings"
	"capcli/scenarios/decide/plan/shard"
	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/decide/plan/widths"
	"capcli/scenarios/decide/spot"
	"capcli/scenarios/decide/trial"
	"capcli/scenarios/events"
	"capcli/scenarios/kubernetes"
	"capcli/scenarios/live"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/money/spend"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/scenarios/validate"
	"capcli/scenarios/vary"
	"capcli/scenarios/whatif"
	"capcli/simulate/mig"
	"capcli/simulate/serving/roofline"
	"capcli/simulate/serving/service"
)

// outputs are the documents that the program writes, by the value of their member schema. A new document
// is one row here; TestEveryDocumentHasASchema finds one that is missing.
var outputs = []struct {
	id, doc string
	typ     reflect.Type
}{
	{"capcli/spend/v1", "capcli bill spend: what groups spend by period, and what the month comes to", reflect.TypeFor[spend.Result]()},
	{"capcli/bill/v1", "capcli bill: what a portfolio costs for the use of GPUs", reflect.TypeFor[billing.Statement]()},
	{"capcli/bill_check/v1", "capcli bill check: a bill in FOCUS, checked", reflect.TypeFor[focus.Result]()},
	{"capcli/campaigns/v1", "capcli forecast events cost: what training runs cost, by term and by GPU model", reflect.TypeFor[events.CostList]()},
	{"capcli/compare/v1", "capcli compare: runs side by side", reflect.TypeFor[outcome.Comparison]()},
	{"capcli/compare_by/v1", "capcli compare --by: costs of runs by tenant, month or pool", reflect.TypeFor[outcome.Split]()},
	{"capcli/doctor/v1", "capcli doctor: what the GPUs of this machine can tell", reflect.TypeFor[nvml.Document]()},
	{"capcli/error/v1", "an error: the last line on stderr with -o json", reflect.TypeFor[report.Failure]()},
	{"capcli/eta/v1", "capcli eta: when a job would start", reflect.TypeFor[eta.Answer]()},
	{"capcli/eta-kueue/v1", "capcli eta --kueue: when a workload of Kueue would start", reflect.TypeFor[kubernetes.Start]()},
	{"capcli/eta_score/v1", "capcli eta --score: how good estimates of starts would have been", reflect.TypeFor[eta.Scored]()},
	{"capcli/decide/v1", "capcli decide: how many GPUs to commit to, at what cost and risk", reflect.TypeFor[decide.Result]()},
	{"capcli/explain/v1", "capcli explain: why a figure of a run is what it is", reflect.TypeFor[explain.Result]()},
	{"capcli/explain_plan/v1", "capcli explain of a plan: why this plan and not another", reflect.TypeFor[rationale.Answer]()},
	{"capcli/forecast/v1", "capcli forecast: values ahead with their ranges", reflect.TypeFor[outlook.Result]()},
	{"capcli/forecast_backtest/v1", "capcli forecast backtest: errors of models on the past", reflect.TypeFor[outlook.BacktestResult]()},
	{"capcli/forecast_events/v1", "capcli forecast events: planned events of a file", reflect.TypeFor[outlook.EventList]()},
	{"capcli/forecast_models/v1", "capcli forecast models: the models", reflect.TypeFor[outlook.ModelList]()},
	{"capcli/import/v1", "capcli import: what a job log held", reflect.TypeFor[jobfile.Result]()},
	{"capcli/inputs/v1", "inputs.json of a folder of runs: all that makes them again", reflect.TypeFor[play.Inputs]()},
	{"capcli/kueue/v1", "capcli simulate of Kueue's workloads", reflect.TypeFor[kubernetes.Result]()},
	{"capcli/live/v1", "what a page plays again: a scenario, its prices and its jobs in one document", reflect.TypeFor[live.World]()},
	{"capcli/mig_fit/v1", "capcli mig fit: whether MIG instances fit on one GPU, and in which order", reflect.TypeFor[mig.Fit]()},
	{"capcli/mig_fleet/v1", "capcli mig fleet: how many GPUs MIG instances need", reflect.TypeFor[mig.Fleet]()},
	{"capcli/mig_list/v1", "capcli mig list: the MIG profiles of a GPU", reflect.TypeFor[mig.List]()},
	{"capcli/plan_backtest/v1", "capcli plan backtest: decisions about commitments tried on the past", reflect.TypeFor[trial.Result]()},
	{"capcli/plan/v1", "capcli plan curve: what to commit to for a curve of demand", reflect.TypeFor[curve.Result]()},
	{"capcli/plan-shard/v1", "a file of capcli plan mix --shard", reflect.TypeFor[shard.Document]()},
	{"capcli/plan-spot/v1", "capcli plan spot: how to run work on spot GPUs by a deadline", reflect.TypeFor[spot.Result]()},
	{"capcli/plan_futures/v1", "capcli plan futures: what to commit to over sampled futures", reflect.TypeFor[futures.Result]()},
	{"capcli/plan_joint/v1", "capcli plan joint: one plan over several GPU models and regions", reflect.TypeFor[joint.Result]()},
	{"capcli/plan_mix/v1", "capcli plan mix: the mix of owned, reserved, on-demand and spot GPUs that costs least", reflect.TypeFor[mix.Result]()},
	{"capcli/plan_review/v1", "capcli plan review: commitments that were bought, in hindsight", reflect.TypeFor[review.Result]()},
	{"capcli/plan_service/v1", "capcli plan service: the fewest replicas that keep a promise, and their cost", reflect.TypeFor[sizing.Result]()},
	{"capcli/plan_savings/v1", "capcli plan savings: how much of a savings plan to buy", reflect.TypeFor[savings.Result]()},
	{"capcli/plan_width/v1", "capcli plan width: how wide a job runs and on which GPU model, by deadline, budget and price", reflect.TypeFor[widths.Result]()},
	{"capcli/price/v1", "capcli prices show: the terms of one GPU", reflect.TypeFor[prices.Comparison]()},
	{"capcli/prices/v1", "capcli prices: the catalogue", reflect.TypeFor[prices.Listing]()},
	{"capcli/prices_import/v1", "capcli prices import: what a price list held", reflect.TypeFor[prices.ImportReport]()},
	{"capcli/profile_check/v1", "capcli profile check: what went wrong with GPUs, and since when", reflect.TypeFor[anomaly.Result]()},
	{"capcli/profile_heat/v1", "capcli profile heat: what boxes, GPUs, jobs or tenants did hour by hour", reflect.TypeFor[heat.Result]()},
	{"capcli/profile_scaling/v1", "capcli profile scaling: what runs of one work reached at each size", reflect.TypeFor[scaling.Result]()},
	{"capcli/profile_show/v1", "capcli profile show: the samples of one GPU over time", reflect.TypeFor[store.Track]()},
	{"capcli/profile_summary/v1", "capcli profile summary: what GPUs did", reflect.TypeFor[profile.Result]()},
	{"capcli/profile_upkeep/v1", "capcli profile compact, upload and prune: what was done with the days of a recorder", reflect.TypeFor[upkeep.Result]()},
	{"capcli/progress/v1", "a line of --progress json", reflect.TypeFor[report.Progress]()},
	{"capcli/queue/v1", "capcli explain queue: why jobs wait", reflect.TypeFor[explain.Queue]()},
	{"capcli/report/v1", "capcli report: what a page or a paper of the planning meeting shows", reflect.TypeFor[paper.Paper]()},
	{"capcli/report_check/v1", "capcli report --check: whether a paper is what its inputs make today", reflect.TypeFor[paper.Recheck]()},
	{"capcli/runs/v1", "GET /v1/runs of capcli serve: the runs that it answers for", reflect.TypeFor[live.RunList]()},
	{"capcli/scenarios/v1", "capcli scenarios: the library", reflect.TypeFor[scenarios.Listing]()},
	{"capcli/service_fit/v1", "capcli service fit: the time of a server of one's own, fitted", reflect.TypeFor[roofline.FitResult]()},
	{"capcli/service_model/v1", "capcli service model: memory and time of a model on GPUs", reflect.TypeFor[roofline.Estimate]()},
	{"capcli/service_models/v1", "capcli service model without a name: known models and GPUs", reflect.TypeFor[roofline.ModelList]()},
	{"capcli/service_describe/v1", "capcli service describe: what is in a trace of requests", reflect.TypeFor[requests.Description]()},
	{"capcli/service_usage/v1", "capcli service describe --metrics: what servers tell of their traffic", reflect.TypeFor[inference.Usage]()},
	{"capcli/service_scale/v1", "capcli service scale: how scalers follow a load, beside the bound", reflect.TypeFor[service.ScaleResult]()},
	{"capcli/service_agents/v1", "capcli service agents: the calls of agents' tasks, and what a service makes of them", reflect.TypeFor[service.AgentsResult]()},
	{"capcli/service_estimate/v1", "capcli service estimate: mean times of a service by the approximation", reflect.TypeFor[service.Estimate]()},
	{"capcli/service_replay/v1", "capcli service replay: what requests saw of a service", reflect.TypeFor[service.Replayed]()},
	{"capcli/simulate/v1", "capcli simulate: figures of the runs", reflect.TypeFor[outcome.Document]()},
	{"capcli/tables/v1", "any other result: its tables, row by row", reflect.TypeFor[report.TableDocument]()},
	{"capcli/trace_describe/v1", "capcli trace describe: a job log", reflect.TypeFor[trace.Description]()},
	{"capcli/validate/v1", "capcli validate: a log's past replayed", reflect.TypeFor[validate.Result]()},
	{"capcli/vary/v1", "what a live page of a decision prices again: its prices, purchases and the demand of its futures", reflect.TypeFor[vary.World]()},
	{"capcli/whatif/v1", "the answer to one change of a run", reflect.TypeFor[whatif.Answer]()},
}

// Document is an entry of Documents.
type Document struct {
	ID     string               // value of the document's member schema; of a YAML file that of its first line
	Make   func(*Maker) *Schema // the schema of the document
	Output bool                 // the program writes it as JSON
}

// Documents are the inputs and outputs that have a schema, by name: plan_mix, scenario.
var Documents = capcli.Catalog[Document]{Kind: "document"}

func init() {
	for _, o := range outputs {
		Documents.Add(NameOf(o.id), o.doc, Document{o.id, func(m *Maker) *Schema { return m.output(o.id, o.typ) }, true})
	}
}

// NameOf returns the name of a document in Documents: plan_mix of capcli/plan_mix/v1, plan-mix and plan_mix.
func NameOf(id string) string {
	name := strings.TrimPrefix(id, "capcli/")
	if i := strings.LastIndex(name, "/v"); i >= 0 {
		name = name[:i]
	}
	return strings.ReplaceAll(name, "-", "_")
}

// output returns the schema of the document id, in which the member schema has that value.
func (m *Maker) output(id string, t reflect.Type) *Schema {
	s := m.Describe(t)
	if s.Ref != "" {
		s = m.Defs[strings.TrimPrefix(s.Ref, m.Prefix)]
	}
	for i := range s.Properties {
		if s.Properties[i].Name == "schema" {
			s.Properties[i].Schema = &Schema{Const: id}
		}
	}
	return s
}

// Print returns the whole schema of the document called name, with its definitions. closed forbids members
// that the schema does not name. The error of an unknown name lists all.
func Print(name string, closed bool) (*Schema, error) {
	name = NameOf(name)
	d, err := Documents.Get(name)
	if err != nil {
		return nil, err
	}
	m := NewMaker("#/$defs/")
	m.Closed = closed
	s := *d.Make(m)
	if err := m.Fault(); err != nil {
		return nil, err
	}
	s.Dialect, s.ID = dialect, "urn:capcli:"+strings.ReplaceAll(strings.TrimPrefix(d.ID, "capcli/"), "/", ":")
	s.Title = d.ID
	for _, e := range Documents.All() {
		if e.Name == name {
			s.Description = cmp.Or(s.Description, e.Doc)
		}
	}
	s.Defs = m.Defs
	return &s, nil
}
