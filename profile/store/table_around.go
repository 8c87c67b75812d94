package store

import (
	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// tickInstant is the column of the instant of a row's tick.
var tickInstant = parquet.Column{Name: "ts", Kind: parquet.Instant, Packing: parquet.Deltas}

// aroundColumn returns the column of a metric of the box or of a job's processes.
func aroundColumn(d *profile.Describe) parquet.Column {
	if d.Step < 1 {
		return parquet.Column{Name: d.Name, Kind: parquet.Float32, Nullable: true, Packing: parquet.Split}
	}
	return parquet.Column{Name: d.Name, Kind: parquet.Int64, Nullable: true, Packing: parquet.Deltas}
}

func hostSpec() spec {
	s := spec{name: "hosts", key: hostTS}
	s.add(hostTS, "instant of the tick, UTC", tickInstant)
	for m := range profile.NumHostMetrics {
		d := &profile.HostMetrics[m]
		c := aroundColumn(d)
		if m == profile.NetPeak || m == profile.FabricPeak {
			c.Packing, c.Repeats = parquet.Plain, true
		}
		s.add(hostMetrics+int(m), d.Doc, c)
	}
	s.add(hostMissing, "why metrics are null, as name=reason;name=reason", word("missing", true))
	return s
}

// addOwner adds the five columns of an owner, of which the first is col.
func (s *spec) addOwner(col int) {
	s.add(col, "name of the user", word("user", true))
	s.add(col+1, "id of the container", word("container", true))
	s.add(col+2, "Kubernetes pod", word("pod", true))
	s.add(col+3, "Kubernetes namespace", word("namespace", true))
	s.add(col+4, "Slurm job", word("job", true))
}

func groupSpec() spec {
	s := spec{name: "groups", key: groupTS, order: []int{groupJob, groupNamespace, groupPod, groupContainer, groupUser}}
	s.add(groupTS, "instant of the tick, UTC", tickInstant)
	s.addOwner(groupUser)
	for m := range profile.NumGroupMetrics {
		d := &profile.GroupMetrics[m]
		s.add(groupMetrics+int(m), d.Doc, aroundColumn(d))
	}
	s.add(groupMissing, "why metrics are null, as name=reason;name=reason", word("missing", true))
	return s
}

func readingSpec() spec {
	s := spec{name: "readings", key: readingTS, order: []int{readingJob, readingNamespace, readingPod, readingContainer, readingUser, readingUUID, readingName}}
	s.add(readingTS, "instant of the tick, UTC", tickInstant)
	s.addOwner(readingUser)
	s.add(readingUUID, "of the GPU or MIG instance of the rank that told it; null where it does not say", word("gpu_uuid", true))
	s.add(readingName, "what it is a reading of, as the program calls it", word("name", false))
	s.add(readingValue, "the figure that the program told", parquet.Column{Name: "value", Kind: parquet.Float64})
	return s
}
