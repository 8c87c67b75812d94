package events

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/forecast/roadmap"
	"capcli/profile/accelerator"
	"capcli/profile/measured"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
)

// Limits of a campaign.
const (
	mostPriority = 1_000_000
	mostList     = 1000
	mostPUE      = 10
	mostWatts    = 100_000
)

// contents are what tokens may be pieces of.
var contents = []string{"text", "images", "video", "audio", "other"}

func (p *planning) campaignFields() []strict.Field {
	c := p.Campaign
	return append([]strict.Field{
		{"gpus", "GPUs that it holds", strict.Integer(&c.GPUs, 1, mostGPUs)},
		{"parameters", "of the model: 70e9 or 70B", readLarge(&c.Parameters)},
		{"active_parameters", "of a mixture of experts, those that a token passes through: 37B; default: all", readLarge(&c.Active)},
		{"tokens", "that it is trained on: 15e12 or 15T", readLarge(&c.Tokens)},
		{"tokens_of", "what they are pieces of: " + strings.Join(contents, ", ") + "; the scaling law is told of text alone; default: text, unless its name or class says otherwise", strict.Choice(&c.TokensOf, "kind of content", contents...)},
		{"gpu_model", "GPUs that it runs on: H100; its data sheet gives peak_flops", strict.Name(&c.GPUModel)},
		{"format", "number format trained in: " + strings.Join(accelerator.Formats, ", ") + "; default: bf16", strict.Choice(&c.Format, "number format", accelerator.Formats...)},
		{"peak_flops", "of one GPU in the format trained in: 989e12 or 989T; not needed with gpu_model or past", readLarge(&c.PeakFLOPS)},
		{"mfu", "share of that which the model's own operations reach: 40%, or a range, 35%..45%", p.readMFU},
		{"mfu_profile", "instead of mfu, what a profile measured: {file: summary.json, tenants: [nlp], share: 90%}", mfuSection.Pointer(&c.Profile)},
		{"past", "instead of peak_flops and mfu, a run that was measured: {parameters: 7B, tokens: 2T, gpu_hours: 184320, gpus: 512}", readPast(&c.Past)},
		{"scaling", "what a doubling of the past run costs, as a factor: {parameters: 1.8..2.2, tokens: 2}, which is the default", scalingSection.Reader(&c.Scaling)},
		{"parallel", "share of the work that more GPUs speed up (Amdahl); default: all", readRatio(&c.Parallel, 1e-6, 1)},
		{"buffer", "share added for runs that fail: 15% to 25%; default: 20%", p.readBuffer},
		{"evaluation", "GPU time for evaluation, as a share of that of the runs; default: none", readRatio(&c.Evaluation, 0, 100)},
		{"ablations", "GPU time of smaller runs before and beside it, as a share of that of the runs; default: none", readRatio(&c.Ablations, 0, 100)},
		{"runs", "such runs one after another; default: 1", strict.Integer(&c.Runs, 1, 10_000)},
		{"delays", "ways to be late, of which at most one comes: [{by: 90d, probability: 30%}]", lateSection.List(&p.Event.Delays, mostList, "delays")},
		{"success", "what follows if it succeeds: {probability: 25%, after: 14d, gpus: 1400, for: 270d}; without for, another run", successSection.Pointer(&p.Success)},
	}, append(p.moneyFields(), workFields(&c.Work)...)...)
}

func (p *planning) moneyFields() []strict.Field {
	m := &p.Campaign.Prices
	return []strict.Field{
		{"gpu_price", "dollars of a GPU-hour: 2.40, or a key of the catalogue (capcli prices list)", readGPUPrice(&m.GPU)},
		{"data", "what it reads: {tb: 60, tokenise_per_tb: 40, storage_per_gb: 0.02, egress_per_gb: 0.09}", dataSection.Pointer(&m.Data)},
		{"checkpoints", "states that are stored: {every: 3h, keep: 10, storage_per_gb: 0.02}", checkpointSection.Pointer(&m.Checkpoints)},
		{"energy", "power that is paid for, of owned GPUs: {watts: 700, pue: 1.2, price_kwh: 0.10}", energySection.Pointer(&m.Energy)},
		{"people", "who work on it: {count: 6, usd_per_month: 20k, before: 60d}", peopleSection.Pointer(&m.People)},
	}
}

// workFields are the fields that say how a campaign becomes jobs. A forecast reads them and needs none.
func workFields(w *roadmap.Work) []strict.Field {
	return []strict.Field{
		{"class", "class of its jobs; default: its name", strict.Name(&w.Class)},
		{"tenant", "who pays for its jobs; default: its name", strict.Name(&w.Tenant)},
		{"partition", "where its jobs are sent", strict.Name(&w.Partition)},
		{"priority", "of its jobs; larger is more urgent", strict.Integer(&w.Priority, -mostPriority, mostPriority)},
		{"job_gpus", "GPUs of a job, a part of gpus; default: one job holds them all", strict.Integer(&w.JobGPUs, 1, mostGPUs)},
		{"piece", "longest run time of a job, from which the next goes on: 1d; default: a run is one job", strict.Duration(&w.Piece, 60)},
		{"draw_length", "true: simulate draws its length from its range; default: the middle", strict.Bool(&w.DrawLength)},
	}
}

var mfuSection = strict.Section[roadmap.Measured]{Name: "mfu_profile", Start: roadmap.Measured{Share: 1}, Needs: []string{"file"}, Fields: func(m *roadmap.Measured) []strict.Field {
	return []strict.Field{
		{"file", "what capcli profile summary -o json wrote, relative to this file", strict.Text(&m.File, 4096)},
		{"jobs", "ids of the measured jobs that stand for it; default: all", strict.Names(&m.Jobs, "ids of jobs")},
		{"tenants", "or the tenants whose measured jobs do", strict.Names(&m.Tenants, "names of tenants")},
		{"share", "MFU over tensor activity, which recomputed activations make less than 1: 75%; default: 100%, the most that it can be", readRatio(&m.Share, 0.01, 1)},
	}
}}

var scalingSection = strict.Section[roadmap.Scaling]{Name: "scaling", Fields: func(s *roadmap.Scaling) []strict.Field {
	return []strict.Field{
		{"parameters", "what twice the parameters cost, as a factor: 1.8..2.2", readGrowth(&s.Parameters)},
		{"tokens", "what twice the tokens cost: 2", readGrowth(&s.Tokens)},
	}
}}

var lateSection = strict.Section[roadmap.Late]{Name: "delays", Needs: []string{"by", "probability"}, Fields: func(l *roadmap.Late) []strict.Field {
	return []strict.Field{
		{"by", "it comes so much later: 90d", strict.Duration(&l.By, 1)},
		{"probability", "of this delay: 30%", readRatio(&l.Chance, 1e-6, 1)},
	}
}}

var successSection = strict.Section[roadmap.Success]{Name: "success", Needs: []string{"probability"}, Fields: func(s *roadmap.Success) []strict.Field {
	return []strict.Field{
		{"probability", "that it follows, if the campaign happens: 25%", readRatio(&s.Chance, 1e-6, 1)},
		{"after", "time between the two: 14d", strict.Duration(&s.After, 0)},
		{"gpus", "GPUs that it holds; default: those of the campaign", strict.Integer(&s.GPUs, 1, mostGPUs)},
		{"for", "it holds them for so long, as a product does; default: a run, whose length follows from its size", strict.Duration(&s.For, 1)},
		{"parameters", "of that run; default: those of the campaign", readLarge(&s.Parameters)},
		{"tokens", "of that run; default: those of the campaign", readLarge(&s.Tokens)},
		{"runs", "such runs; default: as many as of the campaign", strict.Integer(&s.Runs, 1, 10_000)},
	}
}}

var dataSection = strict.Section[roadmap.Data]{Name: "data", Fields: func(x *roadmap.Data) []strict.Field {
	return []strict.Field{
		{"tb", "size in 10^12 bytes; default: the tokens times bytes_per_token", strict.Number(&x.TB, 1e-9, 1e9)},
		{"bytes_per_token", "of text; default: 4", strict.Number(&x.BytesPerToken, 0.01, 1e6)},
		{"tokenise_per_tb", "dollars for preparing a TB once", readUSD(&x.TokenisePerTB)},
		{"storage_per_gb", "dollars for storing a GB for a month, while it lasts", readUSD(&x.StoragePerGB)},
		{"copies", "that are stored; default: 1", strict.Integer(&x.Copies, 1, 1000)},
		{"egress_per_gb", "dollars for moving a GB", readUSD(&x.EgressPerGB)},
		{"transfers", "how often all of it is moved; default: 1", strict.Integer(&x.Transfers, 1, 1000)},
	}
}}

var checkpointSection = strict.Section[roadmap.Checkpoints]{Name: "checkpoints", Needs: []string{"every", "storage_per_gb"}, Fields: func(k *roadmap.Checkpoints) []strict.Field {
	return []strict.Field{
		{"every", "time between two: 3h", strict.Duration(&k.Every, 1)},
		{"keep", "newest ones that are kept; default: all", strict.Integer(&k.Keep, 1, 1_000_000)},
		{"bytes_per_parameter", "of one; default: 14, weights and the state of Adam", strict.Number(&k.BytesPerParameter, 0.1, 1000)},
		{"storage_per_gb", "dollars for storing a GB for a month", readUSD(&k.StoragePerGB)},
	}
}}

var energySection = strict.Section[roadmap.Energy]{Name: "energy", Needs: []string{"price_kwh"}, Fields: func(e *roadmap.Energy) []strict.Field {
	return []strict.Field{
		{"watts", "of a GPU that computes; default: the power of gpu_model's board", strict.Number(&e.Watts, 1, mostWatts)},
		{"pue", "of the data centre; default: 1", strict.Number(&e.PUE, 1, mostPUE)},
		{"price_kwh", "dollars of a kilowatt-hour", readUSD(&e.PerKWh)},
	}
}}

var peopleSection = strict.Section[roadmap.People]{Name: "people", Needs: []string{"count", "usd_per_month"}, Fields: func(w *roadmap.People) []strict.Field {
	return []strict.Field{
		{"count", "how many", strict.Number(&w.Count, 0.01, mostPeople)},
		{"usd_per_month", "dollars of one for a month: 20k", readUSD(&w.PerMonth)},
		{"before", "work before the start: 60d; default: none", strict.Duration(&w.Before, 0)},
	}
}}

func pastFields(r *roadmap.PastRun) []strict.Field {
	return []strict.Field{
		{"parameters", "of the model; of a mixture of experts the active ones", readLarge(&r.Parameters)},
		{"tokens", "that it was trained on", readLarge(&r.Tokens)},
		{"gpu_hours", "that it took", readLarge(&r.GPUHours)},
		{"gpus", "that it held", strict.Integer(&r.GPUs, 1, mostGPUs)},
	}
}

func readPast(dst **roadmap.PastRun) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		r := &roadmap.PastRun{}
		o := d.ReadObject(n, "past", pastFields(r))
		if o == nil {
			return
		}
		for _, f := range pastFields(r) {
			if !o.Has(f.Name) {
				o.FaultMissing(f.Name, "past needs %s: %s", f.Name, f.Doc)
			}
		}
		*dst = r
	}
}

func (p *planning) readBuffer(d *strict.Decoder, n *yaml.Node) {
	v := -1.0
	readRatio(&v, 0, 10)(d, n)
	p.Campaign.Failures, p.zeroRoom = v, v == 0
}

// readMFU reads a share, or a range of it whose middle counts.
func (p *planning) readMFU(d *strict.Decoder, n *yaml.Node) {
	c := p.Campaign
	lo, hi, ok := strings.Cut(n.Value, "..")
	if !ok || n.Kind != yaml.ScalarNode {
		readRatio(&c.MFU, 1e-6, 1)(d, n)
		return
	}
	a, okLo := parseShare(lo)
	b, okHi := parseShare(hi)
	if !okLo || !okHi || a < 1e-6 || b > 1 || a > b {
		d.FaultWant(n, "a share over 0 and up to 1, or a range of it, such as 40% or 35%..45%")
		return
	}
	c.MFULo, c.MFU, c.MFUHi = a, (a+b)/2, b
}

// parseShare parses 0.4 or 40%.
func parseShare(text string) (float64, bool) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		v /= 100
	}
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// readGrowth reads what a doubling costs: 2, or 1.8..2.2, whose middle counts.
func readGrowth(dst *roadmap.Growth) strict.Reader {
	const form = "a factor from 1 to 16, or a range of it, such as 2 or 1.8..2.2"
	return strict.Value(dst, form, form, func(text string) (roadmap.Growth, bool) {
		lo, hi, ranged := strings.Cut(text, "..")
		if !ranged {
			hi = lo
		}
		a, errLo := strconv.ParseFloat(strings.TrimSpace(lo), 64)
		b, errHi := strconv.ParseFloat(strings.TrimSpace(hi), 64)
		return roadmap.Growth{Lo: a, Mid: (a + b) / 2, Hi: b}, errLo == nil && errHi == nil && a >= 1 && a <= b && b <= 16
	})
}

// readUSD reads an amount of dollars: 0.02, $40, 20k.
func readUSD(dst *capcli.USD) strict.Reader {
	const form = "dollars such as 0.02, 40 or 20k"
	return strict.Value(dst, form, form, func(text string) (capcli.USD, bool) {
		digits, times := capcli.CutMagnitude(strings.TrimSuffix(strings.TrimSpace(text), " USD"))
		v, err := capcli.ParseUSD(digits)
		return v * capcli.USD(times), err == nil && v >= 0 && v < 1_000_000_000*capcli.Dollar/capcli.USD(times)
	})
}

// readGPUPrice reads the price of a GPU-hour, or a key of the catalogue.
func readGPUPrice(dst **capcli.USD) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		const form = "dollars of a GPU-hour such as 2.40, or a key such as gcp/us-central1/a3-highgpu-8g/1y"
		text, ok := d.ReadScalar(n, form)
		if !ok {
			return
		}
		if strings.Contains(strings.TrimSuffix(text, "/gpu-h"), "/") {
			q, err := prices.Catalogue().Find(text)
			if err != nil {
				d.Fault(n, "%s", err)
				return
			}
			v := q.PerGPU()
			*dst = &v
			return
		}
		v, err := capcli.ParseUSD(strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, "/gpu-h"), "USD")))
		if err != nil || v > 1000*capcli.Dollar {
			d.FaultWant(n, form)
			return
		}
		*dst = &v
	}
}

// checkCampaign computes the event and the cost of a training campaign.
func (p *planning) checkCampaign(o *strict.Object) {
	c := p.Campaign
	c.Name = p.Name
	for _, need := range []string{"gpus", "parameters", "tokens"} {
		if !o.Has(need) {
			o.FaultMissing(need, "a campaign needs %s", need)
		}
	}
	p.checkSpeed(o)
	if o.Has("scaling") && !o.Has("past") {
		o.FaultName("scaling", "scaling is from a past run; give past")
	}
	if e := c.Prices.Energy; e != nil && e.Watts == 0 && o.Has("energy") {
		if m, ok := accelerator.Find(c.GPUModel); ok && m.Watts > 0 {
			e.Watts = float64(m.Watts)
		} else {
			o.FaultName("energy", "energy needs watts: no power of a board is known for gpu_model %s", capcli.Quoted(c.GPUModel))
		}
	}
	if w := &c.Work; w.JobGPUs > 0 && c.GPUs%w.JobGPUs != 0 {
		o.Fault("job_gpus", "%d GPUs are no whole number of jobs of %d", c.GPUs, w.JobGPUs)
	}
	if s := p.Success; s != nil && s.For > 0 && (s.Parameters > 0 || s.Tokens > 0 || s.Runs > 0) {
		o.FaultName("success", "success has for, so it is no run: leave parameters, tokens and runs out")
	}
	if p.zeroRoom {
		c.Failures = -1
	}
	if o.Decoder.FaultCount() > 0 || c.Profile != nil {
		return // a profile is read later
	}
	if err := p.Settle(); err != nil {
		o.Fault("parameters", "%s; give it more gpus, or a smaller size", plainText(err))
		return
	}
	if p.Event.End > capcli.Time(math.MaxInt32)*8 {
		o.Fault("parameters", "the campaign would take %.0f hours; give it more gpus", p.Cost.Hours)
	}
}

// checkSpeed checks that one source says how fast a GPU is: the MFU and a peak, or a past run.
func (p *planning) checkSpeed(o *strict.Object) {
	c := p.Campaign
	if o.Has("past") {
		for _, k := range []string{"peak_flops", "mfu", "mfu_profile", "format"} {
			if o.Has(k) {
				o.FaultName(k, "%s and past both say how fast a GPU is; leave one out", k)
			}
		}
		return
	}
	if o.Has("peak_flops") && o.Has("format") {
		o.FaultName("format", "peak_flops is of one format already; leave one out")
	}
	if !o.Has("peak_flops") {
		m, known := accelerator.Find(c.GPUModel)
		switch {
		case !o.Has("gpu_model"):
			o.FaultMissing("peak_flops", "a campaign needs peak_flops or gpu_model, and mfu; or past, a run that was measured")
			return
		case !known:
			o.Fault("gpu_model", "the peak of gpu_model %s is not known; give peak_flops, or one of %s", capcli.Quoted(c.GPUModel), strings.Join(accelerator.Names(), ", "))
		default:
			c.PeakFLOPS = peakOf(m, c.Format)
			if c.PeakFLOPS == 0 {
				o.Fault("gpu_model", "%s has no units for %s; name another format, or give peak_flops", m.Name, orBF16(c.Format))
			}
		}
	}
	switch {
	case o.Has("mfu") && o.Has("mfu_profile"):
		o.FaultName("mfu_profile", "mfu and mfu_profile both say what is reached of the peak; leave one out")
	case !o.Has("mfu") && !o.Has("mfu_profile"):
		o.FaultMissing("mfu", "mfu is missing: what share of peak_flops the model reaches, often 35%% to 45%%")
	}
}

// peakOf returns the peak of a model in operations a second; 0 if it has no units for the format. A model
// without bf16 is trained in fp16 where no format is stated.
func peakOf(m *accelerator.Model, format string) float64 {
	v, ok := m.TFLOPS(orBF16(format))
	if !ok && format == "" {
		v, _ = m.TFLOPS("fp16")
	}
	return v * 1e12
}

func orBF16(format string) string {
	if format == "" {
		return "bf16"
	}
	return format
}

// notOfJobs are the fields of a campaign that a scenario does not have: there it is jobs, and asks for nothing.
var notOfJobs = []string{"kind", "series", "team", "asked_by", "reason", "without", "value"}

// CampaignFields returns a reader of a list of campaigns, as a scenario has it: the same fields as those of
// a campaign in a file of events, without kind, series and those of a request.
func CampaignFields(dst *[]roadmap.Entry) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		taken := map[string]int{}
		d.ReadList(n, maxEvents, "campaigns", func(_ int, n *yaml.Node) {
			p := newPlanning("campaign")
			p.Line = n.Line
			var fields []strict.Field
			for _, f := range p.fields() {
				if !slices.Contains(notOfJobs, f.Name) {
					fields = append(fields, f)
				}
			}
			o := d.ReadObject(n, "a campaign", fields)
			if o == nil {
				return
			}
			if !o.Has("name") {
				o.FaultMissing("name", "a campaign needs a name: its jobs go by it")
			}
			p.check(o)
			if line, twice := taken[p.Name]; twice && p.Name != "" {
				o.Fault("name", "the campaign %s is there twice, first in line %d", capcli.Quoted(p.Name), line)
			}
			taken[p.Name] = n.Line
			*dst = append(*dst, p.Entry)
		})
	}
}

// Settle reads the profiles that campaigns name, computes what these cost, and adds what follows campaigns
// that succeed, each after its campaign. It fails with *capcli.InputError.
func Settle(file string, list []roadmap.Entry, open func(name string) ([]byte, error)) ([]roadmap.Entry, error) {
	var out []roadmap.Entry
	for i := range list {
		e := list[i]
		if e.Campaign != nil && e.Campaign.Profile != nil {
			c := *e.Campaign
			if err := measure(&c, open); err != nil {
				return nil, err
			}
			if e.Campaign = &c; c.MFU > 0 {
				if err := e.Settle(); err != nil {
					return nil, &capcli.InputError{File: file, Line: e.Line, Field: "mfu_profile", Text: plainText(err)}
				}
			}
		}
		out = append(out, e)
		next, follows, err := e.FollowUp()
		if err != nil {
			return nil, &capcli.InputError{File: file, Line: e.Line, Field: "success", Text: plainText(err)}
		}
		if follows {
			out = append(out, next)
		}
	}
	return out, nil
}

// measure sets the MFU of a campaign from its profile.
func measure(c *roadmap.Campaign, open func(name string) ([]byte, error)) error {
	m := c.Profile
	if open == nil {
		return &capcli.InputError{File: m.File, Field: "mfu_profile", Text: "expected access to files, found none here", Hint: "state mfu instead"}
	}
	b, err := open(m.File)
	if err != nil {
		return err
	}
	sum, err := measured.Read(m.File, bytes.NewReader(b))
	if err != nil {
		return err
	}
	use, err := sum.Select(m.Tenants, m.Jobs)
	if err != nil {
		return err
	}
	share, known := use.TensorShare()
	if !known {
		return &capcli.InputError{File: m.File, Field: "tensor_active_pct_mean", Text: "expected the activity of tensor cores, found none measured", Hint: "state mfu instead, often 35% to 45%"}
	}
	c.MFU = share * m.Share
	return nil
}
