package postgres

// Known are the statements that this process has translated so far, as PostgreSQL takes them.
func Known() (all []Statement) {
	known.byText.Range(func(_, s any) bool {
		all = append(all, s.(Statement)) //nolint:forcetypeassert // nothing else is stored
		return true
	})
	return all
}
