package store

import (
	"fmt"
	"slices"
	"sync"

	"countersign/models/policy"
)

// maxCompiled is how many versions of the policy are kept compiled: the one that is active,
// and those that are being looked at.
const maxCompiled = 8

// compiledPolicies keeps the versions that were used last.
type compiledPolicies struct {
	mu     sync.Mutex
	recent []compiledVersion // the last used first
}

type compiledVersion struct {
	version int64
	policy  *policy.Policy
}

func (c *compiledPolicies) get(version int64) *policy.Policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.recent, func(v compiledVersion) bool { return v.version == version })
	if i < 0 {
		return nil
	}
	if i > 0 {
		found := c.recent[i]
		copy(c.recent[1:i+1], c.recent[:i])
		c.recent[0] = found
	}
	return c.recent[0].policy
}

// put keeps a version and returns the one that is kept: another caller may have been
// quicker.
func (c *compiledPolicies) put(version int64, p *policy.Policy) *policy.Policy {
	if kept := c.get(version); kept != nil {
		return kept
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = slices.Insert(c.recent, 0, compiledVersion{version, p})
	if len(c.recent) > maxCompiled {
		c.recent = slices.Delete(c.recent, maxCompiled, len(c.recent))
	}
	return p
}

// policyFor returns the compiled form of a stored version; doc is parsed once while the
// version is in use.
func (s *Store) policyFor(version int64, doc func() (string, error)) (*policy.Policy, error) {
	if p := s.policies.get(version); p != nil {
		return p, nil
	}
	text, err := doc()
	if err != nil {
		return nil, err
	}
	p, err := policy.ParseStored([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("policy version %d: %w", version, err)
	}
	return s.policies.put(version, p), nil
}
