package slurm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// showConfig takes the settings that slurm.conf, which is read later, may leave out.
func (r *reader) showConfig(f *file) error {
	number := 0
	for text := range strings.Lines(f.text) {
		number++
		if _, now, ok := strings.Cut(text, "Configuration data as of "); ok {
			r.Now = max(r.Now, unix(strings.TrimSpace(now)))
		}
		key, value, ok := strings.Cut(text, " = ")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "BOOT_TIME" {
			r.Boot = unix(value)
		} else if value != "(null)" && !strings.HasSuffix(value, " sec") && !strings.HasSuffix(value, " min") {
			r.Settings[strings.ToLower(key)] = value
		}
		r.note(f, number, key, key, usedSettings+" boot_time")
	}
	return nil
}

// showQOS reads sacctmgr -P show qos.
func (r *reader) showQOS(f *file) error {
	return r.table(f, "name priority preempt preemptexempttime preemptmode usagefactor grptres grpjobs maxtres maxtrespu maxjobspu maxtrespa maxjobspa", func(w *row) error {
		r.QOS = append(r.QOS, &qos{
			Name: w.text("name"), Priority: w.int("priority", 0), Preempts: w.list("preempt"), PreemptMode: w.text("preemptmode"), ExemptTime: w.limit("preemptexempttime"), UsageFactor: w.decimal("usagefactor", 1),
			GrpTRES: w.tres("grptres"), GrpJobs: w.int("grpjobs", -1), MaxTRES: w.tres("maxtres"), MaxTRESUser: w.tres("maxtrespu"), MaxJobsUser: w.int("maxjobspu", -1),
			MaxTRESGroup: w.tres("maxtrespa"), MaxJobsGroup: w.int("maxjobspa", -1),
		})
		return nil
	})
}

// add adds an account, or a user of one, below a parent account.
func (r *reader) add(f *file, line int, parent, account, user string) (*assoc, error) {
	if r.Root == nil {
		r.Root = &assoc{Account: "root", GrpJobs: -1, MaxJobs: -1, Shares: 1}
		r.byUser[[2]string{"root", ""}] = r.Root
	}
	if a := r.findUser(account, user); a != nil {
		return a, nil
	}
	up := r.findUser(parent, "")
	if up == nil {
		return nil, fault(f, line, "Parent", "expected an account of an earlier line, found %q", parent)
	}
	a := &assoc{Account: account, User: user, Parent: up, Shares: 1, GrpJobs: -1, MaxJobs: -1, line: int64(line)}
	up.Children = append(up.Children, a)
	r.byUser[[2]string{account, user}] = a
	return a, nil
}

// dump reads the file of sacctmgr dump.
func (r *reader) dump(f *file) error {
	parent := "root"
	return eachLine(f.text, func(line int, text string) error {
		what, rest, ok := strings.Cut(text, " - ")
		parts := splitWords(rest, '\'', ":")
		if !ok {
			return fault(f, line, "", "expected User - 'name':Key=Value, found %q", text)
		}
		account, user := parts[0], ""
		switch what {
		case "Parent":
			parent = account
			return nil
		case "Account":
		case "User":
			account, user = parent, account
		case "Cluster":
			account = "root"
		default:
			r.account(f, line, what, "not a kind of line that is known")
			return nil
		}
		a, err := r.add(f, line, parent, account, user)
		w := &row{f: f, line: line, v: map[string]string{}}
		for _, p := range parts[1:] {
			key, value, _ := strings.Cut(p, "=")
			w.v[strings.ToLower(key)] = value
			r.note(f, line, key, key, "fairshare priority defaultqos grptres grpjobs maxjobs")
		}
		if err != nil {
			return err
		}
		a.take(w)
		return w.err
	})
}

// take takes the fields of an association that are there.
func (a *assoc) take(w *row) {
	w.v["share"] = cmp.Or(w.text("fairshare"), w.text("share"))
	if w.v["share"] == "parent" {
		w.v["share"] = strconv.Itoa(parentShares)
	}
	a.Shares, a.Priority, a.QOS = w.int("share", a.Shares), w.int("priority", a.Priority), cmp.Or(w.text("defaultqos"), a.QOS)
	a.GrpJobs, a.MaxJobs = w.int("grpjobs", a.GrpJobs), w.int("maxjobs", a.MaxJobs)
	if limits := w.tres("grptres"); len(limits) > 0 {
		a.GrpTRES = limits
	}
}

// showAssocs reads sacctmgr -P show assoc tree: it has ids, which tell the order of creation.
func (r *reader) showAssocs(f *file) error {
	return r.table(f, "id account user parentname share priority grptres grpjobs maxjobs", func(w *row) error {
		account, user := w.text("account"), w.text("user")
		parent := cmp.Or(w.text("parentname"), "root")
		if user != "" {
			parent = account
		}
		a, err := r.add(f, w.line, parent, account, user)
		if err == nil {
			a.line = w.unix("id")
			a.take(w)
		}
		return err
	})
}

// shares reads sshare -a -l -P: the usage.
func (r *reader) shares(f *file) error {
	return r.table(f, "account user rawusage normusage", func(w *row) error {
		a := r.findUser(w.text("account"), w.text("user"))
		if a == nil {
			return nil // an association that was made after the others were written
		}
		a.usage = w.decimal("rawusage", 0)
		if a == r.Root {
			r.rootUsage = a.usage
			a.usage = max(a.usage, 1e6)
		} else if norm, err := strconv.ParseFloat(w.text("normusage"), 64); err == nil && r.rootUsage < 1e6 {
			a.usage = norm * 1e6 // of little usage six decimals tell more than a whole number
		}
		return nil
	})
}

// sdiag takes when slurmctld began to count.
func (r *reader) sdiag(f *file) error {
	if _, after, ok := strings.Cut(f.text, "Data since"); ok {
		first, _, _ := strings.Cut(after, "\n")
		_, in, _ := strings.Cut(first, "(")
		r.Since = unix(strings.TrimSuffix(strings.TrimSpace(in), ")"))
	}
	r.account(f, 0, "Data since", "")
	r.account(f, 0, "statistics", "how fast the controller is: passes are played as if they took no time")
	return nil
}

// showJobs reads scontrol show job.
func (r *reader) showJobs(f *file) error {
	return r.blocks(f, "jobid", "jobid userid nice account qos jobstate reason timelimit submittime eligibletime accruetime partition numnodes tres", func(w *row) error {
		j := &shownJob{ID: w.text("jobid"), Partitions: w.list("partition"), State: w.text("jobstate"), Reason: w.text("reason"), Eligible: w.unix("eligibletime")}
		user, _, _ := strings.Cut(w.text("userid"), "(")
		low, _, _ := strings.Cut(w.text("numnodes"), "-")
		t := w.tres("tres")
		j.subject = subject{
			Submit: w.unix("submittime"), Accrue: w.unix("accruetime"), TRES: t, Nodes: max(1, cmp.Or(t["node"], unix(low))),
			Assoc: r.findUser(w.text("account"), user), QOS: r.findQOS(w.text("qos")),
		}
		if w.text("timelimit") != "Partition_Limit" {
			j.Limit = w.limit("timelimit")
		}
		n, err := strconv.ParseInt(cmp.Or(w.text("nice"), "0"), 10, 64)
		if j.Nice = n; err != nil {
			w.fail("nice", "an integer")
		}
		r.Jobs = append(r.Jobs, j)
		return nil
	})
}

// complete sets what partitions and the tree have altogether.
func (r *reader) complete() {
	byName := map[string]*machine{}
	for _, n := range r.Nodes {
		byName[n.Name] = n
	}
	for _, p := range r.Partitions {
		p.Total = tres{}
		for _, name := range p.Nodes {
			if n := byName[name]; n != nil {
				p.Total.add(share{cpus: n.CPUs, mem: n.MemMB, gpus: n.GPUs}, n.GPUModel)
			}
		}
		p.Total["billing"] = int64(r.billing(p, p.Total))
	}
	r.Now = max(r.Now, r.Boot)
	if r.Root != nil {
		sortChildren(r.Root)
	}
}

// add adds what is held of a node.
func (t tres) add(s share, model string) {
	t["node"]++
	t["cpu"] += s.cpus
	t["mem"] += s.mem
	t["gres/gpu"] += s.gpus
	if model != "" && s.gpus > 0 {
		t["gres/gpu:"+model] += s.gpus
	}
}

// sortChildren puts children in the order in which Slurm visits those that tie.
func sortChildren(a *assoc) {
	slices.SortStableFunc(a.Children, func(x, y *assoc) int {
		return cmp.Or(-cmp.Compare(min(1, len(x.User)), min(1, len(y.User))), cmp.Compare(y.line, x.line))
	})
	for _, c := range a.Children {
		sortChildren(c)
	}
}
