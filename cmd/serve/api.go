package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"capcli"
	"capcli/cmd/panel/reply"
	"capcli/cmd/schema"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/live"
	"capcli/scenarios/outcome"
	"capcli/scenarios/strict"
	"capcli/scenarios/whatif"
)

// operation is one operation of the API.
type operation struct {
	name, method, path string
	about              string       // in a sentence
	request, result    reflect.Type // request is nil for GET
	works              bool         // it takes a turn in the queue
	hidden             bool         // it is the page's own, and not described

	do func(ctx context.Context, s *Server, body []byte) (any, error)
}

// operations are the operations of the API, in the order of its description.
var operations = []*operation{
	posted("simulate", "Play the jobs of a run with changes: cost, waits, stranded GPUs.", (*Server).simulate),
	posted("whatif", "Answer a what-if question: the run with changes, its headlines, its pictures as data, and the command line.", (*Server).whatif),
	posted("plan", "Find the best mix of capacity for the jobs of a run, under limits: capcli plan mix.", (*Server).plan),
	posted("forecast", "Forecast the demand behind the jobs of a run: capcli forecast.", (*Server).forecast),
	posted("compare", "Play plans and compare them run by run: capcli compare.", (*Server).compare),
	got("runs", "The runs that the server answers for, and what a what-if question can change in them.", (*Server).list),
	{name: "openapi", method: http.MethodGet, path: "/v1/openapi.json", hidden: true, do: func(_ context.Context, s *Server, _ []byte) (any, error) {
		return json.RawMessage(s.spec), nil
	}},
	hidden(posted("panel", "", (*Server).panel)),
}

// posted returns the operation POST /v1/NAME with a request of type Q and a result of type A.
func posted[Q, A any](name, about string, do func(*Server, context.Context, *Q) (A, error)) *operation {
	return &operation{
		name: name, method: http.MethodPost, path: "/v1/" + name, about: about, works: true,
		request: reflect.TypeFor[Q](), result: reflect.TypeFor[A](),
		do: func(ctx context.Context, s *Server, body []byte) (any, error) {
			var q Q
			if err := decode(body, &q); err != nil {
				return nil, err
			}
			return do(s, ctx, &q)
		},
	}
}

// got returns the operation GET /v1/NAME with a result of type A.
func got[A any](name, about string, do func(*Server, context.Context) (A, error)) *operation {
	return &operation{
		name: name, method: http.MethodGet, path: "/v1/" + name, about: about, result: reflect.TypeFor[A](),
		do: func(ctx context.Context, s *Server, _ []byte) (any, error) { return do(s, ctx) },
	}
}

func hidden(o *operation) *operation {
	o.hidden = true
	return o
}

// decode reads one JSON value, whose members must be known. It fails with *capcli.RequestError.
func decode(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after the request")
		}
	}
	if err != nil {
		return &capcli.RequestError{Field: "body", Text: "is no request: " + err.Error(), Hint: "GET /v1/openapi.json says what a request may hold"}
	}
	return nil
}

func (s *Server) operation(o *operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), s.o.Time, errSlow)
		defer cancel()
		answer, err := s.answer(ctx, o, r)
		if err == nil {
			s.count.add(o.name, http.StatusOK)
			s.write(w, http.StatusOK, answer)
			return
		}
		code := statusOf(err)
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "5")
		}
		s.count.add(o.name, code)
		s.write(w, code, live.FailureOf(err))
	}
}

var (
	errSlow  = errors.New("the request took longer than the server allows")
	errMedia = errors.New("the body must be application/json")
)

// answer reads the request of an operation, waits for its turn and does it.
func (s *Server) answer(ctx context.Context, o *operation, r *http.Request) (any, error) {
	var body []byte
	if o.request != nil {
		if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
			return nil, errMedia
		}
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, s.o.Body)); err != nil {
			return nil, err
		}
	}
	if o.works {
		leave, err := s.queue.enter(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	answer, err := o.do(ctx, s, body)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answer, err
}

func statusOf(err error) int {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errMedia):
		return http.StatusUnsupportedMediaType
	case errors.Is(err, errBusy):
		return http.StatusTooManyRequests
	case errors.Is(err, errSlow), errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	for _, is := range []func(error) bool{hasType[*capcli.RequestError], hasType[*capcli.UnknownError], hasType[*strict.Faults]} {
		if is(err) {
			return http.StatusBadRequest
		}
	}
	if hasType[*capcli.InputError](err) || hasType[*capcli.ResultError](err) {
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

func hasType[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// Ask names the run of a request.
type Ask struct {
	Run string `json:"run,omitempty"` // as GET /v1/runs names it; may be left out if there is one
}

// SimulateRequest is the request of simulate.
type SimulateRequest struct {
	Ask
	live.SimulateRequest
}

func (s *Server) simulate(ctx context.Context, q *SimulateRequest) (*outcome.Document, error) {
	r, err := s.run(q.Run)
	if err != nil {
		return nil, err
	}
	return r.Engine.Simulate(ctx, q.SimulateRequest)
}

// WhatIfRequest is the request of whatif.
type WhatIfRequest struct {
	Ask
	whatif.Request
}

func (s *Server) whatif(ctx context.Context, q *WhatIfRequest) (*live.Answer, error) {
	r, err := s.run(q.Run)
	if err != nil {
		return nil, err
	}
	return r.Engine.WhatIf(ctx, q.Request)
}

func (s *Server) panel(ctx context.Context, q *WhatIfRequest) (*reply.Reply, error) {
	r, err := s.run(q.Run)
	if err != nil {
		return nil, err
	}
	return reply.Answer(ctx, r.Engine, q.Request)
}

// PlanRequest is the request of plan. Fields are those of the flags of capcli plan mix.
type PlanRequest struct {
	Ask
	live.SimulateRequest
	Vary          []string `json:"vary,omitempty"` // "capacity.base.gpus=0..128:8"; none varies the sizes of committed pools and the patience
	Policies      []string `json:"policies,omitempty"`
	Placements    []string `json:"placements,omitempty"`
	Max           []string `json:"max,omitempty"`        // limits from above: "wait_p95=30m"
	Min           []string `json:"min,omitempty"`        // limits from below: "availability=0.95"
	Hold          *float64 `json:"hold,omitempty"`       // share of the runs in which all limits hold; 0.95
	Confidence    *float64 `json:"confidence,omitempty"` // that no mix is dropped wrongly; 0.99
	Goal          string   `json:"goal,omitempty"`       // frontier or cheapest
	WaitCost      string   `json:"wait_cost,omitempty"`  // dollars that an hour of a job's waiting counts in the choice
	PriceUnserved bool     `json:"price_unserved,omitempty"`
	Exhaustive    bool     `json:"exhaustive,omitempty"`
	All           bool     `json:"all,omitempty"` // list every mix
}

func (s *Server) plan(ctx context.Context, q *PlanRequest) (*mix.Result, error) {
	r, err := s.run(q.Run)
	if err != nil {
		return nil, err
	}
	c, err := r.Engine.Case(ctx, q.SimulateRequest)
	if err != nil {
		return nil, err
	}
	m := mix.NewRequest(c)
	m.Vary, m.Policies, m.Placements, m.Max, m.Min = q.Vary, q.Policies, q.Placements, q.Max, q.Min
	m.WaitCost, m.PriceUnserved, m.Exhaustive, m.All, m.Runs, m.Perfect = q.WaitCost, q.PriceUnserved, q.Exhaustive, q.All, q.Runs, q.Perfect
	if q.Hold != nil {
		m.Hold = *q.Hold
	}
	if q.Confidence != nil {
		m.Confidence = *q.Confidence
	}
	if q.Goal != "" {
		if m.Goal, err = mix.ParseGoal(q.Goal); err != nil {
			return nil, err
		}
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	out, err := mix.Plan(ctx, m)
	if err != nil {
		return nil, err
	}
	if out.Best == nil {
		return nil, out.NoPlan()
	}
	return out, nil
}

// ForecastRequest is the request of forecast. Fields are those of the flags of capcli forecast.
type ForecastRequest struct {
	Ask
	By       []string    `json:"by,omitempty"`      // one series for each: pool, gpu_model, tenant, class, total
	Measure  string      `json:"measure,omitempty"` // demand, usage, queue, arrivals or arrival-hours; demand
	Step     string      `json:"step,omitempty"`    // 15m, 1h, 1d, 1w, 1mo; 1h
	Total    bool        `json:"total,omitempty"`   // add the sum of all series
	Model    string      `json:"model,omitempty"`   // as capcli forecast models lists them; auto
	Horizon  string      `json:"horizon,omitempty"` // steps ("48") or a length of time ("2w")
	Levels   []float64   `json:"level,omitempty"`   // of the ranges, in percent; 80 and 95
	Seasons  []int       `json:"season,omitempty"`
	Origins  int         `json:"origins,omitempty"`
	Changes  string      `json:"changes,omitempty"` // show, none or use
	Negative bool        `json:"allow_negative,omitempty"`
	Seed     capcli.Seed `json:"seed,omitempty"`
}

func (s *Server) forecast(ctx context.Context, q *ForecastRequest) (*outlook.Result, error) {
	r, err := s.run(q.Run)
	if err != nil {
		return nil, err
	}
	past := demand.Request{By: q.By, Measure: q.Measure, Total: q.Total}
	if q.Step != "" {
		if past.Step, err = capcli.ParseStep(q.Step); err != nil {
			return nil, &capcli.RequestError{Field: "step", Text: ": " + err.Error()}
		}
	}
	ahead := outlook.Request{
		Model: q.Model, Horizon: q.Horizon, Levels: q.Levels, Seasons: q.Seasons, Origins: q.Origins, Changes: q.Changes,
		Negative: q.Negative, Seed: max(1, q.Seed),
	}
	if err := ahead.Check(); err != nil {
		return nil, err
	}
	jobs, err := r.Engine.JobsCSV(ctx)
	if err != nil {
		return nil, err
	}
	text := strings.NewReader(jobs.Text)
	hs, err := demand.ReadInput(ctx, past, demand.Sources{}, trace.Input{Name: r.Name, R: text, At: text, Size: text.Size()})
	if err != nil {
		return nil, err
	}
	return outlook.Forecast(ctx, hs, ahead, nil)
}

// CompareRequest is the request of compare.
type CompareRequest struct {
	Plans []ComparePlan `json:"plans"` // the first is what the others are compared with
}

// ComparePlan is a run with changes.
type ComparePlan struct {
	Name string `json:"name"`
	Ask
	live.SimulateRequest
}

// maxPlans is the most plans of a comparison.
const maxPlans = 16

func (s *Server) compare(ctx context.Context, q *CompareRequest) (*outcome.Comparison, error) {
	if n := len(q.Plans); n < 2 || n > maxPlans {
		return nil, &capcli.RequestError{Field: "plans", Text: fmt.Sprintf("wants 2 to %d plans, found %d", maxPlans, n)}
	}
	var plans []outcome.Plan
	names := map[string]bool{}
	for i := range q.Plans {
		p := &q.Plans[i]
		if p.Name == "" || names[p.Name] {
			return nil, &capcli.RequestError{Field: "plans", Text: fmt.Sprintf("has a plan called %s, want a name for each, and each once", capcli.Quoted(p.Name))}
		}
		names[p.Name] = true
		d, err := s.simulate(ctx, &SimulateRequest{p.Ask, p.SimulateRequest})
		if err != nil {
			return nil, err
		}
		plans = append(plans, outcome.Plan{Name: p.Name, Runs: d.Runs})
	}
	return outcome.Compare(plans), nil
}

func (s *Server) list(ctx context.Context) (*live.RunList, error) {
	out := &live.RunList{Schema: live.RunsSchema, Runs: []live.RunInfo{}}
	for i := range s.o.Runs {
		r := &s.o.Runs[i]
		knobs, err := r.Engine.Knobs(ctx)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, live.RunInfo{Name: r.Name, Command: r.Engine.Command(), Knobs: knobs})
	}
	return out, nil
}

// object is a JSON object; encoding/json writes a map in the order of its keys.
type object map[string]any

// openAPI returns the description of the API: OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), whose
// schemas are JSON Schema.
func (s *Server) openAPI() ([]byte, error) {
	m := schema.NewMaker("#/components/schemas/")
	paths := object{}
	failed := object{"description": "The error: what is wrong, and what to do.", "content": content(m.Describe(reflect.TypeFor[live.Failure]()))}
	for _, o := range operations {
		if o.hidden {
			continue
		}
		answers := object{"200": object{"description": "The result.", "content": content(m.Describe(o.result))}, "default": failed}
		one := object{"operationId": o.name, "summary": o.about, "responses": answers}
		if o.request != nil {
			m.Closed = true // a request with an unknown member is refused
			one["requestBody"] = object{"required": true, "content": content(m.Describe(o.request))}
			m.Closed = false
			for code, text := range map[string]string{
				"400": "The request is wrong.", "413": "The body is too large.", "415": "The body is not application/json.",
				"422": "The inputs do not allow an answer.", "429": "The queue is full: try again after Retry-After seconds.", "504": "The request took too long.",
			} {
				answers[code] = object{"description": text, "content": failed["content"]}
			}
		}
		answers["401"] = object{"description": "The token is missing or wrong.", "content": failed["content"]}
		method := "get"
		if o.request != nil {
			method = "post"
		}
		paths[o.path] = object{method: one}
	}
	if err := m.Fault(); err != nil {
		return nil, err
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "capcli serve", "version": s.o.Version, "license": object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
			"description": "Requests and results are the documents of capcli: those of -o json.",
		},
		"servers":    []any{object{"url": "/"}},
		"security":   []any{object{"token": []string{}}, object{"cookie": []string{}}},
		"paths":      paths,
		"components": object{"schemas": m.Defs, "securitySchemes": securitySchemes()},
	})
}

func securitySchemes() object {
	return object{
		"token":  object{"type": "http", "scheme": "bearer"},
		"cookie": object{"type": "apiKey", "in": "cookie", "name": "capcli-PORT"},
	}
}

func content(schema any) object { return object{"application/json": object{"schema": schema}} }
