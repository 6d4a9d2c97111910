"""Virtual robots that walk and crawl before people: world, script, film, report."""
