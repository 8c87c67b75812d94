package service

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/trace"
	"capcli/scenarios/strict"
	"capcli/simulate/serving"
	"capcli/simulate/serving/roofline"
	"capcli/simulate/serving/traffic"
)

// ReplayRequest asks what requests would see of a service.
type ReplayRequest struct {
	Specs    []string // files with a service each; the first is the one that others are compared with
	Requests string   // file of requests; "" takes those that the first service describes
	Read     requests.Options
	For      string // length of requests that have no end: 2h; "" is an hour
	Seed     capcli.Seed
	ByModel  bool // each service gets only the requests to the model of its name
	Replicas int  // in place of those of the specs; 0 keeps them
}

// maxPlayed is the most requests that are played one by one.
const maxPlayed = 20_000_000

// Check refuses a wrong request.
func (q *ReplayRequest) Check() error {
	switch {
	case len(q.Specs) == 0:
		return &capcli.RequestError{Text: "no service is given", Hint: "capcli service init prints one to start from"}
	case q.ByModel && q.Requests == "":
		return &capcli.RequestError{Field: "by-model", Text: "divides the requests of a file by model; name it", Hint: "requests=requests.csv, with a column model"}
	case q.For != "" && q.Requests != "":
		return &capcli.RequestError{Field: "for", Text: "is for requests that a service describes; those of --requests have their own length"}
	case q.Replicas < 0 || q.Replicas > serving.MaxReplicas:
		return &capcli.RequestError{Field: "replicas", Text: fmt.Sprintf("wants 1 to %d, found %d", serving.MaxReplicas, q.Replicas)}
	}
	return nil
}

// Replayed is the answer: what requests saw, service by service.
type Replayed struct {
	Schema   string `json:"schema"`
	Requests string `json:"requests"` // file
	Variant
	Others []Variant `json:"others"` // the other services, on the same requests
	Total  *Total    `json:"total"`  // of all services; null where they are alternatives
	Notes  []string  `json:"notes"`
}

// Total sums services up that share a fleet, each with the requests to its model.
type Total struct {
	GPUs     int64         `json:"gpus"`
	Requests int64         `json:"requests"`
	SLOMet   int64         `json:"slo_met"`
	USD      capcli.Figure `json:"usd"`
	Kept     bool          `json:"kept"` // each promise
}

// Variant is one service of a Replayed.
type Variant struct {
	Service       string          `json:"service"`
	Policy        string          `json:"policy"`
	Router        string          `json:"router"`
	GPUs          int64           `json:"gpus"`                     // of all replicas
	WithoutTokens bool            `json:"without_tokens,omitempty"` // the service has batch_time: only whole requests are timed
	Users         int             `json:"users"`                    // of the requests; 0 is unknown
	UserUSD       capcli.Figure   `json:"usd_per_user"`
	Promise       Kept            `json:"promise"`
	Summary       serving.Summary `json:"summary"`
	APIUSD        capcli.Figure   `json:"api_usd"`     // what the same tokens cost at api_price; null where none is stated
	Replicas      []serving.Use   `json:"replicas"`    // those for prompts first
	Origin        roofline.Origin `json:"time_origin"` // where the time of an iteration comes from, and its error

	Served []serving.Served `json:"-"`
}

// Kept says whether a promise was kept. Limits are microseconds; 0 is none.
type Kept struct {
	TTFT  int64         `json:"ttft_us"`
	TPOT  int64         `json:"tpot_us"`
	E2E   int64         `json:"e2e_us"`
	Share float64       `json:"share_wanted"`
	Found capcli.Figure `json:"share"` // of all requests, rejected and unserved ones included
	Kept  bool          `json:"kept"`
}

// HasLimit reports whether there is a limit.
func (k *Kept) HasLimit() bool { return k.TTFT > 0 || k.TPOT > 0 || k.E2E > 0 }

// ReadSpec reads a service from a file, with the files that it names.
func ReadSpec(open trace.Opener, name string) (*Spec, error) {
	text, err := open.ReadFile(name, strict.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	s, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	beside := besideFile(open, name)
	err = s.ReadTimeTable(func(file string) (io.ReadCloser, error) {
		in, done, err := beside(file)
		return readCloser{in.R, done}, err
	})
	if err != nil {
		return nil, err
	}
	if len(s.Config.Time.Lin) > 0 && s.Config.Blocks > 0 {
		s.completeServing()
	}
	return s, nil
}

// readCloser reads from one thing and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}

// Replay plays requests on services.
func Replay(ctx context.Context, q *ReplayRequest, open trace.Opener, note func(string)) (*Replayed, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	specs, err := q.readSpecs(open)
	if err != nil {
		return nil, err
	}
	lists, err := q.readRequests(ctx, specs, open, note)
	if err != nil {
		return nil, err
	}
	r := &Replayed{Schema: "capcli/service_replay/v1", Requests: q.Requests}
	for i, s := range specs {
		v, err := s.play(ctx, &lists[i])
		if err != nil {
			return nil, capcli.NameFile(err, q.Requests)
		}
		if i == 0 {
			r.Variant = *v
		} else {
			r.Others = append(r.Others, *v)
		}
	}
	if q.ByModel {
		r.Total = r.sumUp()
	}
	r.Notes = append(r.notes(), originNotes(specs)...)
	return r, nil
}

// readSpecs reads the services and refuses those that cannot be played.
func (q *ReplayRequest) readSpecs(open trace.Opener) ([]*Spec, error) {
	var specs []*Spec
	for _, name := range q.Specs {
		s, err := ReadSpec(open, name)
		if err != nil {
			return nil, err
		}
		if q.Replicas > 0 {
			s.SetReplicas(q.Replicas)
		}
		c, err := s.Servable()
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			return nil, capcli.NameFile(err, name)
		}
		if s.Name == "" {
			base := filepath.Base(name)
			s.Name = strings.TrimSuffix(base, filepath.Ext(base))
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// share is the requests of a service, and whose they are.
type share struct {
	list  []serving.Request
	users map[int32]bool // 0 is an unknown one
	drawn int            // users of drawn requests
}

// userCount returns how many users there are; 0 is unknown.
func (s *share) userCount() int {
	n := len(s.users)
	if s.users[0] {
		n--
	}
	return max(n, s.drawn)
}

// readRequests returns the requests of each service.
func (q *ReplayRequest) readRequests(ctx context.Context, specs []*Spec, open trace.Opener, note func(string)) ([]share, error) {
	if q.Requests == "" {
		own, err := q.drawRequests(ctx, specs[0], open, note)
		return slices.Repeat([]share{own}, len(specs)), err
	}
	rows, err := requests.ReadFile(ctx, open, q.Requests, q.Read)
	if err != nil {
		return nil, err
	}
	for _, text := range rows.Report.Remarks() {
		note(text)
	}
	if !q.ByModel {
		all := share{list: RequestsOf(rows), users: map[int32]bool{}}
		for _, row := range rows.Rows {
			all.users[row.User] = true
		}
		return slices.Repeat([]share{all}, len(specs)), nil
	}
	return q.divide(rows, specs)
}

// divide gives each service the requests to the model of its name. Each model must have one.
func (q *ReplayRequest) divide(rows *requests.Trace, specs []*Spec) ([]share, error) {
	to := make([]int, len(rows.Models))
	for i, model := range rows.Models {
		to[i] = slices.IndexFunc(specs, func(s *Spec) bool {
			return s.Name == model || s.Requests != nil && s.Requests.Only == model
		})
	}
	out := make([]share, len(specs))
	for i := range out {
		out[i].users = map[int32]bool{}
	}
	all := RequestsOf(rows)
	for i, row := range rows.Rows {
		at := -1
		if int(row.Model) < len(to) {
			at = to[row.Model]
		}
		if at < 0 {
			model := "no model"
			if int(row.Model) < len(rows.Models) && rows.Models[row.Model] != "" {
				model = "the model " + capcli.Quoted(rows.Models[row.Model])
			}
			return nil, &capcli.InputError{
				File: q.Requests, Field: "model", Text: "request " + strconv.Itoa(i) + " is to " + model + ", and no service has that name",
				Hint: "give a SPEC for each model: name: MODEL",
			}
		}
		out[at].list = append(out[at].list, all[i])
		out[at].users[row.User] = true
	}
	for i := range out {
		if len(out[i].list) == 0 {
			return nil, &capcli.InputError{File: q.Requests, Field: "model", Text: "no request is to the model of the service " + capcli.Quoted(specs[i].Name)}
		}
	}
	return out, nil
}

// drawRequests returns the requests that a service describes.
func (q *ReplayRequest) drawRequests(ctx context.Context, s *Spec, open trace.Opener, note func(string)) (out share, err error) {
	if s.Requests == nil {
		return out, &capcli.RequestError{
			Field: "requests", Text: "wants the file of requests to play: the service " + capcli.Quoted(s.Name) + " describes none",
			Hint: "requests=requests.csv, with the columns arrival_us, tokens_in, tokens_out",
		}
	}
	until := capcli.Hour
	if q.For != "" {
		v, err := capcli.ParseSeconds(q.For)
		if err != nil || v < 1 {
			return out, &capcli.RequestError{Field: "for", Text: fmt.Sprintf("wants a length of time such as 2h, found %q", q.For)}
		}
		until = v
	}
	source, err := s.Traffic(ctx, Opening{Open: besideFile(open, q.Specs[0]), Start: capcli.NoTime, Seed: q.Seed, Note: note})
	if err != nil {
		return out, capcli.NameFile(err, q.Specs[0])
	}
	if end := source.Length(); end > 0 && q.For == "" {
		until = end
	}
	out.drawn = source.Users()
	out.list, err = traffic.Collect(source, until, maxPlayed)
	if err == nil && len(out.list) == 0 {
		err = &capcli.RequestError{Field: "for", Text: "is " + until.String() + ", in which no request comes"}
	}
	return out, err
}

// besideFile opens files whose names are relative to the folder of another.
func besideFile(open trace.Opener, name string) trace.Opener {
	return func(file string) (trace.Input, io.Closer, error) {
		if file != "-" && !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(name), file)
		}
		return open(file)
	}
}

// sumUp returns the total of services with requests of their own.
func (r *Replayed) sumUp() *Total {
	t := &Total{Kept: true}
	for _, v := range r.Variants() {
		t.GPUs += v.GPUs
		t.Requests += v.Summary.Requests
		t.SLOMet += v.Summary.SLOMet
		t.USD += v.Summary.USD
		t.Kept = t.Kept && v.Promise.Kept
	}
	return t
}

// SetReplicas gives a service n replicas that are ready from the start on.
func (s *Spec) SetReplicas(n int) { s.Config.Replicas = readyReplicas(n) }

// RequestsOf returns the requests of a trace as a replay takes them.
func RequestsOf(t *requests.Trace) []serving.Request {
	return capcli.Map(t.Rows, func(r requests.Row) serving.Request {
		return serving.Request{Arrival: r.Arrival, In: r.In, Out: r.Out, Cached: r.Cached, Prefix: r.Prefix}
	})
}

// play plays requests on the service.
func (s *Spec) play(ctx context.Context, own *share) (*Variant, error) {
	c, err := s.Servable()
	if err != nil {
		return nil, err
	}
	r, err := s.playRequests(ctx, c, s.count(own.list))
	if err != nil {
		return nil, err
	}
	v := &Variant{Service: s.Name, Policy: c.Policy, Router: c.Router, Summary: r.Summary, Replicas: r.Replicas, Served: r.Served, Origin: s.Origin()}
	v.WithoutTokens = s.HasBatchTime()
	for _, u := range r.Replicas {
		v.GPUs += u.GPUs
	}
	v.Promise = Kept{TTFT: c.SLO.TTFT, TPOT: c.SLO.TPOT, E2E: c.SLO.E2E, Share: float64(s.Share) / 1000, Found: r.Summary.SLOShare}
	v.Promise.Kept = v.Promise.HasLimit() && r.Summary.SLOMet*1000 >= s.Share*r.Summary.Requests
	v.Users, v.UserUSD, v.APIUSD = own.userCount(), capcli.Figure(math.NaN()), capcli.Figure(math.NaN())
	if v.Users > 0 {
		v.UserUSD = r.Summary.USD / capcli.Figure(v.Users)
	}
	if s.API.IsKnown() {
		v.APIUSD = capcli.Figure((float64(r.Summary.TokensIn)*s.API.In + float64(r.Summary.TokensOut)*s.API.Out) / 1e6)
	}
	return v, nil
}

// playRequests plays requests on the replicas of the service, and on those for prompts where it has some.
func (s *Spec) playRequests(ctx context.Context, c *serving.Config, list []serving.Request) (*serving.Result, error) {
	if s.Prefill == nil {
		return serving.Replay(ctx, c, list)
	}
	split := serving.Split{Prefill: &s.Prefill.Config, Decode: c, Transfer: s.Prefill.Transfer, PerToken: s.Prefill.PerToken}
	return split.Replay(ctx, list)
}

// Lead returns the answer in a sentence or two.
func (r *Replayed) Lead() string {
	if len(r.Others) == 0 {
		return r.lead()
	}
	var parts []string
	if t := r.Total; t != nil {
		word := "A promise is broken"
		if t.Kept {
			word = "Each promise is kept"
		}
		parts = append(parts, fmt.Sprintf("%s: %s services, %s GPUs, %s requests.", word, capcli.Grouped(int64(1+len(r.Others))), capcli.Grouped(t.GPUs), capcli.Grouped(t.Requests)))
	}
	for _, v := range r.Variants() {
		parts = append(parts, v.Service+": "+v.lead())
	}
	return strings.Join(parts, "\n")
}

func (v *Variant) lead() string {
	z, k := &v.Summary, &v.Promise
	all := capcli.Grouped(z.Requests) + " " + capcli.Plural(z.Requests, "request")
	gone := ""
	if z.Rejected > 0 {
		gone += fmt.Sprintf(" %s rejected: longer than max_len or the KV cache.", capcli.Grouped(z.Rejected))
	}
	if z.Unserved > 0 {
		gone += fmt.Sprintf(" %s never served.", capcli.Grouped(z.Unserved))
	}
	if !k.HasLimit() {
		return "No promise is stated; " + all + " on " + v.fleet() + "." + gone
	}
	word := "The promise is broken"
	if k.Kept {
		word = "The promise is kept"
	}
	return fmt.Sprintf("%s: %s%% of %s within %s, %s%% wanted, on %s.%s", word, PercentText(float64(k.Found)), all, k.limits(), PercentText(k.Share), v.fleet(), gone)
}

// fleet says on what the requests were played.
func (v *Variant) fleet() string {
	n := int64(len(v.Replicas))
	return capcli.Grouped(n) + " " + capcli.Plural(n, "replica") + ", " + capcli.Grouped(v.GPUs) + " " + capcli.Plural(v.GPUs, "GPU")
}

// limits names the limits of a promise.
func (k *Kept) limits() string {
	var parts []string
	for _, x := range []struct {
		name string
		us   int64
	}{{"TTFT", k.TTFT}, {"TPOT", k.TPOT}, {"E2E", k.E2E}} {
		if x.us > 0 {
			parts = append(parts, x.name+" "+capcli.MicrosText(float64(x.us)))
		}
	}
	return strings.Join(parts, ", ")
}

// PercentText returns a share as a percentage, rounded down to a tenth, so that 99.99 % is not all.
func PercentText(share float64) string {
	return strconv.FormatFloat(float64(int64(share*1000+1e-9))/10, 'f', -1, 64)
}

// notes returns what the reader must know beside the figures.
func (r *Replayed) notes() []string {
	var out []string
	z := &r.Summary
	if z.OK < 1000 {
		out = append(out, fmt.Sprintf("a p99 of %d requests rests on the slowest %d; play a longer trace before you order", z.OK, z.OK-(99*z.OK+99)/100+1))
	}
	if early, late, ok := r.drift(); ok {
		out = append(out, fmt.Sprintf("the queue grows: the mean %s is %s in the first tenth of requests and %s in the last; these replicas cannot carry the load, and percentiles depend on the length of the trace",
			r.firstTime(), capcli.MicrosText(early), capcli.MicrosText(late)))
	}
	if r.APIUSD.IsKnown() && r.APIUSD > 0 {
		out = append(out, fmt.Sprintf("these replicas cost %s, the same tokens %s at api_price: the two are equal at %s times these requests, if the replicas can serve so many",
			capcli.USDOf(float64(z.USD)), capcli.USDOf(float64(r.APIUSD)), capcli.BriefNumber(float64(z.USD)/float64(r.APIUSD))))
	}
	if z.Preemptions > 0 {
		out = append(out, fmt.Sprintf("the KV cache is short: %s preemptions, each of which computes a prompt again", capcli.Grouped(z.Preemptions)))
	}
	return out
}

// firstTime names the time to the first token, which is that to the answer where there are no tokens.
func (v *Variant) firstTime() string {
	if v.WithoutTokens {
		return "E2E"
	}
	return "TTFT"
}

// drift returns the mean TTFT of the first and the last tenth of requests. ok is false where the last is
// not far above the first, or requests are few.
func (v *Variant) drift() (early, late float64, ok bool) {
	n := len(v.Served) / 10
	if n < 20 {
		return 0, 0, false
	}
	early, late = meanTTFT(v.Served[:n]), meanTTFT(v.Served[len(v.Served)-n:])
	middle := meanTTFT(v.Served[4*n : 5*n])
	return early, late, late > 5*max(early, 1) && late > 1.5*middle && late > 1e6
}

func meanTTFT(list []serving.Served) float64 {
	sum, n := 0.0, 0
	for i := range list {
		if list[i].Status == serving.OK {
			sum += float64(list[i].FirstToken - list[i].Arrival)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// servedColumns is the header of WriteServed.
const servedColumns = "id,arrival_us,tokens_in,tokens_out,cached,admitted_us,first_token_us,finish_us,preemptions,moves,replica,status\n"

// WriteServed writes what each request saw as CSV. What never came is empty.
func WriteServed(w io.Writer, served []serving.Served) error {
	out := bufio.NewWriter(w)
	if _, err := out.WriteString(servedColumns); err != nil {
		return err
	}
	line := make([]byte, 0, 256)
	for id := range served {
		s := &served[id]
		line = line[:0]
		for _, v := range [...]int64{int64(id), s.Arrival, s.In, s.Out, s.Cached, s.Admitted, s.FirstToken, s.Finish, s.Preemptions, s.Moves, int64(s.Replica)} {
			if v >= 0 {
				line = strconv.AppendInt(line, v, 10)
			}
			line = append(line, ',')
		}
		line = append(append(line, s.Status.String()...), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
