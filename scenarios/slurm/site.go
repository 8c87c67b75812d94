package slurm

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// site is a Slurm site. Times are seconds since 1970.
type site struct {
	Settings    settings
	Nodes       []*machine // in order of slurm.conf
	Partitions  []*partition
	QOS         []*qos
	Root        *assoc // the tree of accounts and their users; nil is unknown
	Jobs        []*shownJob
	Now         int64 // when the files were written
	Boot, Since int64 // start of slurmctld, and of what sdiag counts; 0 is unknown
	Submissions *submissions
	Account     []accountLine // what was made of each line

	byUser map[[2]string]*assoc
}

// settings are the lines Key=Value of slurm.conf, by key in lower case.
type settings map[string]string

// machine is a node of slurm.conf.
type machine struct {
	Name, GPUModel            string
	CPUs, MemMB, GPUs, Weight int64
	Features                  []string
	back                      int64 // when it takes jobs again that was resumed, in milliseconds; 0 is none
}

// partition is a partition of slurm.conf.
type partition struct {
	Name, QOS, Preemption string // Preemption is PreemptMode
	Nodes                 []string
	Factor, Tier          int64 // PriorityJobFactor and PriorityTier
	MaxTime, Default      int64 // seconds; 0 is without limit, and of DefaultTime MaxTime
	First                 bool  // Default=YES
	Billing               map[string]float64
	Total                 tres // what its nodes have
	set                   set
	limits                *qos // of QOS
}

// qos is a quality of service with its limits.
type qos struct {
	Name, PreemptMode                           string
	Priority, ExemptTime                        int64
	Preempts                                    []string
	UsageFactor                                 float64
	GrpTRES, MaxTRES, MaxTRESUser, MaxTRESGroup tres  // MaxTRESGroup is MaxTRESPA: of an account
	GrpJobs, MaxJobsUser, MaxJobsGroup          int64 // -1 is without limit
}

// assoc is an account, or a user of an account.
type assoc struct {
	Account, User string
	Parent        *assoc
	Children      []*assoc // in the order in which Slurm visits those that tie: users, then accounts, the last created first
	Shares        int64    // parentShares: those of the parent
	Priority      int64
	QOS           string // DefaultQOS; "" is that of the account above
	GrpTRES       tres
	GrpJobs       int64 // -1 is without limit, as MaxJobs
	MaxJobs, line int64

	shares    *assoc // the account whose shares this one is a part of: the nearest above without Fairshare=parent
	usage     float64
	level     float64 // shares of all that share with this one
	norm      float64 // NormShares: of the level in Fair Tree, down the tree in the classic factor
	effective float64 // EffectvUsage
	levelFS   float64
	factor    float64
}

// parentShares is Fairshare=parent.
const parentShares = 1<<31 - 1

// shownJob is a job of scontrol show job.
type shownJob struct {
	subject
	ID, State, Reason string
	Partitions        []string
	Eligible          int64 // 0 is unknown
}

// tres are amounts of resources by name: cpu, mem in MiB, node, billing, gres/gpu, gres/gpu:a100.
type tres map[string]int64

// parseTRES reads a list as Slurm writes it: cpu=4,mem=62.50G,gres/gpu:a100=2. Amounts that are no
// numbers are left out.
func parseTRES(text string) tres {
	t := tres{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(part, "=")
		if v, unit, ok := cutUnit(amount); ok && v >= 0 && v*unit <= 1e15 {
			t[strings.ToLower(name)] = int64(v * unit)
		}
	}
	return t
}

// cutUnit reads a number with a unit of memory, which is given in MiB: M is 1, as nothing is.
func cutUnit(text string) (v, unit float64, ok bool) {
	unit = 1
	if n := len(text); n > 0 {
		if i := strings.IndexByte("KMGTP", text[n-1]); i >= 0 {
			unit, text = []float64{1.0 / 1024, 1, 1 << 10, 1 << 20, 1 << 30}[i], text[:n-1]
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, unit, err == nil
}

func (s settings) int(key string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(s[key], 10, 64); err == nil {
		return n
	}
	return otherwise
}

// seconds returns the setting as a length of time: [days-]hours:minutes:seconds, or bare minutes.
func (s settings) seconds(key string, otherwise int64) int64 {
	if n, ok := parseLimit(s[key]); ok {
		return n
	}
	return otherwise
}

// has reports whether a list of words has a word, whatever its case: PriorityFlags has ACCRUE_ALWAYS.
func (s settings) has(key, word string) bool {
	return slices.ContainsFunc(strings.Split(s[key], ","), func(w string) bool { return strings.EqualFold(strings.TrimSpace(w), word) })
}

// parameter returns the value of a key in a list like SchedulerParameters.
func (s settings) parameter(list, key string, otherwise int64) int64 {
	for p := range strings.SplitSeq(s[list], ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(p), "=")
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && strings.EqualFold(k, key) {
			return n
		}
	}
	return otherwise
}

// parseLimit reads a length of time of Slurm in seconds: minutes, minutes:seconds, hours:minutes:seconds,
// days-hours, days-hours:minutes, days-hours:minutes:seconds. UNLIMITED is 0.
func parseLimit(text string) (seconds int64, ok bool) {
	switch strings.ToUpper(text) {
	case "UNLIMITED", "INFINITE", "NONE", "NO":
		return 0, true
	}
	days, clock, dashed := strings.Cut(text, "-")
	if !dashed {
		days, clock = "0", text
	}
	parts := append([]string{days}, strings.Split(clock, ":")...)
	units := []int64{int64(capcli.Day), 3600, 60, 1}
	if !dashed && len(parts) < 4 {
		units = []int64{0, 60, 1}
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || n < 0 || n > 1e9 || i >= len(units) {
			return 0, false
		}
		seconds += n * units[i]
	}
	return seconds, true
}

func (q *qos) mayPreempt(o *qos) bool {
	return q != nil && o != nil && slices.Contains(q.Preempts, o.Name)
}

// findPartition returns a partition by its name, or nil.
func (s *site) findPartition(name string) *partition {
	return find(s.Partitions, func(p *partition) bool { return p.Name == name })
}

// byTier returns the partitions of these names, those of the highest tier first.
func (s *site) byTier(names []string) (parts []*partition) {
	for _, name := range names {
		if p := s.findPartition(name); p != nil {
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b *partition) int { return cmp.Compare(b.Tier, a.Tier) })
	return parts
}

// findQOS returns a QOS by its name, or nil.
func (s *site) findQOS(name string) *qos {
	return find(s.QOS, func(q *qos) bool { return q.Name == name })
}

// findUser returns the association of a user in an account, or nil.
func (s *site) findUser(account, user string) *assoc { return s.byUser[[2]string{account, user}] }

func find[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

// billing returns what a job is charged for t in partition p each second: TRESBillingWeights, or its CPUs.
// With MAX_TRES the most of what a node has counts, and licences and the like beside it.
func (s *site) billing(p *partition, t tres) float64 {
	if len(p.Billing) == 0 {
		return float64(t["cpu"])
	}
	sum, most, one := 0.0, 0.0, s.Settings.has("priorityflags", "MAX_TRES")
	for _, name := range slices.Sorted(maps.Keys(p.Billing)) {
		v := p.Billing[name] * float64(t[name])
		if one && (name == "cpu" || name == "mem" || name == "node" || strings.HasPrefix(name, "gres/")) {
			most = max(most, v)
		} else {
			sum += v
		}
	}
	return sum + most
}
